"""Broken adapters that take what Google's and Amazon's clouds serve for the API that it resembles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat import ChatDecoder, Dialect
from adapters._counting import OPENAI
from adapters._responses import ResponsesDecoder
from adapters._think import TAG
from adapters.gemini import NUMBERS, GenerateDecoder
from llm_conformance.contract import Call, StreamEvent
from tests.broken.kinds import Events, Misunderstood, Streamed
from tests.broken.replay import Client

# Vertex AI


class Renumbered(GenerateDecoder):
    def __init__(self, call: Call, **_numbers: Any) -> None:
        super().__init__(call, {**NUMBERS, **dict.fromkeys(("7", "8", "9"), "content_filter"), "10": "error"})


class NumbersOfTheOtherEnum(Misunderstood):
    apis = ("vertex:generate",)
    fails = ("FIN-1",)
    says = 'expected finish_reason "content_filter"; got "error"'
    decoders = MappingProxyType({GenerateDecoder: Renumbered})


class ModelWrittenIntoTheBody(Client):
    """Where it stands in the path, too."""

    apis = ("vertex:messages",)
    fails = ("RPL-2",)
    says = "expected no /model in the request"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        return {"model": call.model, **body}


# Gemini's OpenAI-compatible endpoint


class Conventional(ChatDecoder):
    def __init__(self, call: Call, dialect: Dialect) -> None:
        super().__init__(call, replace(dialect, think_tag=TAG))


class OnlyTheUsualThinkTagKnown(Misunderstood):
    apis = ("gemini:chat",)
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3")
    says = "<thought>"
    decoders = MappingProxyType({ChatDecoder: Conventional})


class Literal(ChatDecoder):
    def __init__(self, call: Call, dialect: Dialect) -> None:
        super().__init__(call, replace(dialect, counting=OPENAI))


class HiddenThoughtsLeftOutOfTheCompletion(Misunderstood):
    apis = ("gemini:chat",)
    fails = ("USE-1", "USE-3", "USE-5")
    says = "expected total_tokens = "
    decoders = MappingProxyType({ChatDecoder: Literal})


class SignatureOfACallLost(Client):
    apis = ("gemini:chat",)
    fails = ("RPL-1",)
    says = "thought_signature"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        for message in body.get("messages", ()):
            for call in message.get("tool_calls") or ():
                call.pop("extra_content", None)
        return body


# Amazon Bedrock's mantle


class EventLinesWanted(Streamed):
    """Takes text from those frames of responses that begin with the name of their event."""

    apis = ("bedrock:responses",)
    fails = ("MSG-2", "RSN-3", "STR-7", "PRV-1")
    says = "expected"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        named = call.api == "responses"
        return super().parse_stream(_named(chunks) if named else chunks, call)

    def alter(self, events: Events) -> Events:
        return events


def _named(chunks: Iterable[bytes]) -> Iterator[bytes]:
    body = b"".join(chunks)
    for frame in body.split(b"\n\n"):
        if frame.startswith(b"event:") or b"response.output_text.delta" not in frame:
            yield frame + b"\n\n"


class FirstParts(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Iterator[StreamEvent]:
        self._starts.setdefault(key, len(self._answer.message))
        if key[1] in (0, None):
            yield from super()._feed_text(key, piece)


class OnlyTheFirstPartOfAMessageRead(Misunderstood):
    fails = ("MSG-2", "RSN-3", "ANN-2")
    says = "expected"
    decoders = MappingProxyType({ResponsesDecoder: FirstParts})


class Identifying(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if "function_call" not in kind or event.get("output_index") in self._answer.tools:
            yield from super()._feed_event(kind, event)

    def _feed_call(self, index: int, item: Mapping[str, Any], arguments: str) -> Iterator[StreamEvent]:
        if item.get("id"):
            yield from super()._feed_call(index, item, arguments)


class IdOfTheItemOfACallTakenForGranted(Misunderstood):
    apis = ("bedrock:responses",)
    fails = ("TOOL-1", "RSN-3")
    says = "expected"
    decoders = MappingProxyType({ResponsesDecoder: Identifying})
