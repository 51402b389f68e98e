"""Broken adapters that get wrong what xAI, Perplexity and DeepSeek do of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat import ChatDecoder
from adapters._responses import ResponsesDecoder
from llm_conformance.contract import Call, Response, Usage
from tests.broken.kinds import Events, Misunderstood, Plain, less


def _with(usage: Usage | None, **counts: Any) -> Usage | None:
    return usage and replace(usage, **counts)


class MessageFirst(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        choices = document.get("choices") or ()
        told = [{**each, self._place: each.get("message") or each.get("delta")} for each in choices]
        return super()._feed_completion({**document, "choices": told})


class MessageSoFarTakenForADelta(Misunderstood):
    fails = ("MSG-2", "MSG-1", "RSN-1", "RSN-3")
    says = "expected the message of"
    apis = ("perplexity:chat",)
    decoders = MappingProxyType({ChatDecoder: MessageFirst})


class ReasoningApartLeftOutOfTheCompletion(Plain):
    fails = ("USE-1", "USE-2", "USE-3")
    says = "expected total_tokens = "
    apis = ("xai:chat",)

    def alter(self, response: Response, call: Call) -> Response:
        raw = response.usage.raw.get("completion_tokens") if response.usage else None
        return response if raw is None else replace(response, usage=_with(response.usage, completion_tokens=raw))


class ReasoningAddedToAnOutputThatHasIt(Plain):
    fails = ("USE-1", "USE-3")
    says = "expected total_tokens = "
    apis = ("xai:responses",)

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage if call.api == "responses" else None
        return (
            replace(response, usage=less(usage, "completion_tokens", -(usage.reasoning_tokens or 0)))
            if usage
            else response
        )


class ReasoningOfNoTotalTakenForAPart(Plain):
    fails = ("USE-4",)
    says = "expected reasoning_tokens null"
    apis = ("perplexity:chat",)

    def alter(self, response: Response, call: Call) -> Response:
        apart = response.usage.raw.get("reasoning_tokens") if response.usage else None
        return response if apart is None else replace(response, usage=_with(response.usage, reasoning_tokens=apart))


class ById(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        id = event.get("item_id") or event.get("item", {}).get("id")
        return super()._feed_event(kind, {**event, "output_index": id} if id else event)


class ItemsOfOneIdTakenForOne(Misunderstood):
    fails = ("RSN-4", "RSN-3")
    says = "expected opaque data"
    apis = ("xai:responses",)
    decoders = MappingProxyType({ResponsesDecoder: ById})


class Summarising(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        return iter(()) if kind == "response.reasoning_text.delta" else super()._feed_event(kind, event)


class ReasoningLookedForInSummariesOnly(Misunderstood):
    fails = ("RSN-1", "RSN-3", "STR-7")
    says = "expected the reasoning "
    apis = ("deepseek:responses",)
    decoders = MappingProxyType({ResponsesDecoder: Summarising})
