"""Broken adapters that fail MSG-1 first: reasoning shows up in the message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat_decoder import ChatDecoder
from adapters._converse import ConverseDecoder
from adapters._dialect import Dialect
from adapters._generate import GenerateDecoder
from adapters._think import TAG, ThinkSplitter
from adapters.cloudflare_run import RunDecoder
from adapters.cohere import CohereDecoder
from llm_conformance.contract import Call, HttpResponse, Response
from tests.broken.base import Events, FaultyBody, FaultyDecoder, FaultyResponse, OtherSplitter, Pieces

# MSG-1


class ReasoningFallsBackIntoEmptyMessage(FaultyResponse):
    """Returns the reasoning as the message of a response without text."""

    fails = ("MSG-1",)
    says = "a message that also holds"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or response.reasoning or "")


class LogprobsTakenForText(FaultyBody):
    """Reads the message from all tokens that a choice has log probabilities of, those of the reasoning among them."""

    apis = ("deepseek:chat",)
    fails = ("MSG-1", "PRV-8")
    says = "a message that also holds"

    def alter(self, http: HttpResponse) -> HttpResponse:
        if b'"top_logprobs"' not in http.body:
            return http
        document = json.loads(http.body)
        choice = document["choices"][0]
        tokens = (*choice["logprobs"]["reasoning_content"], *choice["logprobs"]["content"])
        choice["message"]["content"] = "".join(each["token"] for each in tokens)
        return replace(http, body=json.dumps(document).encode())


class UnclosedThinkLeft(FaultyResponse):
    """Leaves a think block that is never closed in the message."""

    fails = ("MSG-1", "RSN-1")
    says = "<think>"

    def alter(self, response: Response, call: Call) -> Response:
        if response.message or not any(segment.metadata.get("source") == "tag" for segment in response.segments):
            return response
        return replace(response, message=f"<think>{response.reasoning}", reasoning=None)


class ThoughtFlagIgnored(GenerateDecoder):
    def _feed_part(self, part: Mapping[str, Any], goes_on: bool) -> Events:
        return super()._feed_part({key: value for key, value in part.items() if key != "thought"}, goes_on)


class ThoughtsTakenForText(FaultyDecoder):
    """Takes Gemini's thoughts for text."""

    fails = ("MSG-1", "RSN-1", "RSN-4", "ATT-1")
    says = "which is reasoning"
    decoders = MappingProxyType({GenerateDecoder: ThoughtFlagIgnored})


class PlanAsText(CohereDecoder):
    def _feed_plan(self, plan: str | None) -> Events:
        yield from self._answer.text(plan or "")


class ToolPlanTakenForTheAnswer(FaultyDecoder):
    """Takes Cohere's tool plan for text."""

    fails = ("MSG-1", "RSN-1")
    says = "which is reasoning"
    decoders = MappingProxyType({CohereDecoder: PlanAsText})


class WithoutSplitting(RunDecoder):
    def __init__(self, call: Call) -> None:
        super().__init__(replace(call, think_profile="off"))


class ThinkTagsOfTheNativeApiLeft(FaultyDecoder):
    """Leaves think tags in the responses of Cloudflare's native API."""

    fails = ("MSG-1", "RSN-1")
    says = "<think>"
    decoders = MappingProxyType({RunDecoder: WithoutSplitting})


class WholePieces(ThinkSplitter):
    """Compares whole pieces with the tags."""

    def feed(self, piece: str) -> Pieces:
        if piece.strip() == "<think>":
            self._begin_block()
        elif piece.strip() == "</think>":
            self._state = "text"
        elif self._state == "reasoning":
            yield "reasoning", piece
        else:
            self._visible.append((self.position, self.position + len(piece)))
            yield "text", piece
        self.position += len(piece)

    def end(self) -> Pieces:
        yield from ()


class WholePiecesDecoder(OtherSplitter):
    splitter = WholePieces


class TagsComparedWithWholeChunks(FaultyDecoder):
    """Recognises a think tag only if it is a chunk of its own."""

    fails = ("MSG-1", "MSG-2", "RSN-1")
    says = "<think>|which is reasoning"
    decoders = MappingProxyType({ChatDecoder: WholePiecesDecoder})


class UsualTag(ChatDecoder):
    def __init__(self, call: Call, dialect: Dialect) -> None:
        super().__init__(call, replace(dialect, think_tag=TAG))


class OnlyTheUsualThinkTagKnown(FaultyDecoder):
    """Does not recognise the tag `<thought>`."""

    apis = ("gemini:chat",)
    fails = ("MSG-1", "RSN-1")
    says = "<thought>"
    decoders = MappingProxyType({ChatDecoder: UsualTag})


class ThinkingAsParts(ChatDecoder):
    def _feed_part(self, part: Mapping[str, Any]) -> Events:
        for each in part.get("thinking", (part,)):
            yield from super()._feed_part(each)


class PartsOfThinkingTakenForText(FaultyDecoder):
    """Takes the parts of a thinking chunk for text."""

    apis = ("mistral:chat",)
    fails = ("MSG-1", "RSN-1", "RSN-4")
    says = "which is reasoning"
    decoders = MappingProxyType({ChatDecoder: ThinkingAsParts})


class ListAsJson(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        return super()._feed_content(json.dumps(content) if isinstance(content, list) else content)


class PartsOfTheContentShownAsJson(FaultyDecoder):
    """Returns content that is a list of parts as JSON."""

    apis = ("databricks:chat",)
    fails = ("MSG-1", "RSN-1", "RSN-4")
    says = "which is reasoning"
    decoders = MappingProxyType({ChatDecoder: ListAsJson})


class ReasoningAsText(ConverseDecoder):
    def _feed_reasoning(self, index: int, reasoning: Mapping[str, Any]) -> Events:
        yield from self._answer.text(reasoning.get("text") or "", index)


class ReasoningContentTakenForText(FaultyDecoder):
    """Takes the reasoning of Converse for text."""

    fails = ("MSG-1", "RSN-1", "RSN-4")
    says = "which is reasoning"
    decoders = MappingProxyType({ConverseDecoder: ReasoningAsText})
