"""Broken adapters that take streams apart by other rules than theirs, or get Ollama or Amazon Bedrock wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from adapters import _framing
from adapters._converse import ConverseDecoder
from adapters._framing import Unframe
from adapters.bedrock import InvokedDecoder
from llm_conformance.contract import Call, Response
from tests.broken.kinds import Broken, Events, Misunderstood, Plain
from tests.broken.replay import Client


class Unframed(Broken):
    """Takes the bytes of streams apart in another way than the reference adapters; `unframe` says which for which."""

    complete = stream = parse = None  # type: ignore[assignment]
    unframe: ClassVar[Mapping[Unframe, Unframe]]

    def __init__(self) -> None:
        super().__init__()
        self._touched: set[str] = set()
        for api, adapter in self._by_api.items():
            if adapter.unframe in self.unframe:
                self._by_api[api] = replace(adapter, unframe=self.unframe[adapter.unframe])
                self._touched.add(api)

    def touches(self, api: str) -> bool:
        return api in self._touched


# One document a line


def of_each_chunk(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        yield from (line for line in chunk.split(b"\n") if line.strip())


class LineLostBetweenTwoChunks(Unframed):
    fails = ("STR-4",)
    says = "malformed answer"
    unframe = MappingProxyType({_framing.lines: of_each_chunk})


def as_python_splits(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for line in _framing.lines(chunks):
        parts = line.decode().splitlines()
        yield from (part.encode() for part in parts if len(parts) == 1 or (part.endswith("}") and part.startswith("{")))


class LinesEndWherePythonSaysSo(Unframed):
    """Splits as `str.splitlines` does, and drops what is no whole object."""

    fails = ("MSG-2", "RSN-3", "PRV-1")
    says = "next-line-character"
    unframe = MappingProxyType({_framing.lines: as_python_splits})


# Messages of an AWS event stream


def without_exceptions(chunks: Iterable[bytes]) -> Iterator[str | bytes]:
    for document in _framing.aws_messages(chunks):
        if not next(iter(json.loads(document)), "").endswith("Exception"):
            yield document


class ExceptionsAmongTheMessagesIgnored(Unframed):
    fails = ("ERR-1",)
    says = "expected RateLimitError|expected TimeoutError"
    unframe = MappingProxyType({_framing.aws_messages: without_exceptions})


def until_the_stop(chunks: Iterable[bytes]) -> Iterator[str | bytes]:
    for document in _framing.aws_messages(chunks):
        yield document
        if "messageStop" in json.loads(document):
            return


class NothingReadBehindTheStop(Unframed):
    fails = ("USE-5", "USE-1", "USE-2", "USE-3", "PRV-1")
    says = "a chunk that only carries usage was lost"
    unframe = MappingProxyType({_framing.aws_messages: until_the_stop})


# Amazon Bedrock


class Telling(ConverseDecoder):
    def _feed_reasoning(self, index: int, told: Mapping[str, Any]) -> Events:
        yield from self._answer.text(told.get("text") or "", index)


class ReasoningContentTakenForText(Misunderstood):
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3", "RSN-4")
    says = "which is reasoning"
    decoders = MappingProxyType({ConverseDecoder: Telling})


class TextOfTextBlocksOnly(ConverseDecoder):
    def _feed_block(self, index: int, block: Mapping[str, Any]) -> Events:
        cited = block.get("citationsContent")
        told = {"citationsContent": {"citations": cited.get("citations")}} if cited else block
        return super()._feed_block(index, told)


class TextInsideCitationsLost(Misunderstood):
    parse, parse_stream = Broken.parse, None  # type: ignore[assignment]
    fails = ("MSG-2", "RSN-3", "ANN-2")
    says = "expected the message of 74 code points"
    decoders = MappingProxyType({ConverseDecoder: TextOfTextBlocksOnly})


class Placing(ConverseDecoder):
    def _feed_delta(self, index: int, delta: Mapping[str, Any]) -> Events:
        yield from super()._feed_delta(index, delta)
        if "citation" in delta:
            self._index = None
            yield from self._move_to(index)


class CitationsPlacedAsTheyCome(Misunderstood):
    """Takes a citation to be about the text that is there when it comes."""

    fails = ("ANN-2",)
    says = 'got "" at'
    decoders = MappingProxyType({ConverseDecoder: Placing})


class Obliging(ConverseDecoder):
    def _feed_tool(self, index: int, made: Mapping[str, Any]) -> Events:
        return super()._feed_tool(index, {key: value for key, value in made.items() if key != "type"})


class SearchOfBedrockHandedToTheClient(Misunderstood):
    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"
    decoders = MappingProxyType({ConverseDecoder: Obliging})


class Measuring(InvokedDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        yield from super().feed(document)
        metrics = document.get("amazon-bedrock-invocationMetrics")
        if metrics:
            names = {"input_tokens": "inputTokenCount", "output_tokens": "outputTokenCount"}
            self._answer.raw_usage |= {name: metrics[own] for name, own in names.items()}


class InvocationMetricsTakenForUsage(Misunderstood):
    apis = ("bedrock:invoke",)
    fails = ("USE-5", "USE-3")
    says = "expected completion_tokens"
    decoders = MappingProxyType({InvokedDecoder: Measuring})


# Ollama


class ArgumentsWrittenTwice(Plain):
    """Takes the object for a text that is to be written as JSON once more."""

    fails = ("TOOL-1",)
    says = "expected arguments"

    def alter(self, response: Response, call: Call) -> Response:
        made = [replace(each, arguments=json.dumps(each.arguments)) for each in response.tool_calls]
        return replace(response, tool_calls=tuple(made))

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"


class CompletionTakenForTheTotal(Plain):
    fails = ("USE-1", "USE-3", "USE-4")
    says = "expected total_tokens = 211 . 44"

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage
        return replace(response, usage=usage and replace(usage, total_tokens=usage.completion_tokens))

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"


class UncountedPromptTakenForNone(Plain):
    fails = ("USE-4",)
    says = "expected prompt_tokens null; got 0"

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage
        if usage is None or usage.prompt_tokens is not None:
            return response
        return replace(response, usage=replace(usage, prompt_tokens=0, total_tokens=usage.completion_tokens))

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"


class ResultWithoutItsTool(Client):
    fails = ("RPL-1",)
    says = "/messages/2/tool_name of the request"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        told = [{key: value for key, value in each.items() if key != "tool_name"} for each in body["messages"]]
        return {**body, "messages": told}

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"
