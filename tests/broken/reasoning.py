"""Broken adapters that fail RSN-1 to RSN-4 first: reasoning, segments, signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat_decoder import ChatDecoder
from adapters._responses import ResponsesDecoder
from adapters._think import ThinkSplitter
from adapters.gemini_interactions import InteractionsDecoder
from llm_conformance.contract import Call, Response, Segment
from tests.broken.base import Events, FaultyDecoder, FaultyResponse, OtherSplitter, Pieces

# RSN-1


class ReasoningDropped(FaultyResponse):
    """Drops the reasoning."""

    fails = ("RSN-1",)
    says = "expected the reasoning .*; got null"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=None)


class ReasoningDoubled(FaultyResponse):
    """Returns the reasoning twice."""

    fails = ("RSN-1",)
    says = "expected the reasoning of"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=response.reasoning and response.reasoning * 2)


class OneCharacterTooFew(ThinkSplitter):
    """Holds back one character too few of a possible closing tag."""

    def _drain_reasoning(self, final: bool) -> Pieces:
        held_back = self._closing.held_back(self._pending, self._at)
        if final or held_back < len(self._close) - 1:
            yield from super()._drain_reasoning(final)
        else:
            yield "reasoning", self._take(len(self._pending) - self._at)


class OneCharacterTooFewDecoder(OtherSplitter):
    splitter = OneCharacterTooFew


class TagHeldBackACharacterTooFew(FaultyDecoder):
    """Holds back one character too few of a possible closing tag."""

    fails = ("RSN-1", "MSG-2")
    says = "the reasoning"
    decoders = MappingProxyType({ChatDecoder: OneCharacterTooFewDecoder})


class DetailsAsReasoning(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        details = message.get("reasoning_details") or ()
        again = "".join(each.get("text") or each.get("summary") or "" for each in details)
        return super()._feed_message(
            {**message, "reasoning": (message.get("reasoning") or "") + again} if again else message
        )


class DetailsAddedToTheTrace(FaultyDecoder):
    """Adds the text of `reasoning_details`, which repeats the reasoning, to the reasoning."""

    apis = ("openrouter:chat",)
    fails = ("RSN-1",)
    says = "expected the reasoning"
    decoders = MappingProxyType({ChatDecoder: DetailsAsReasoning})


class SummariesOnly(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        return iter(()) if kind == "response.reasoning_text.delta" else super()._feed_event(kind, event)


class ReasoningLookedForInSummariesOnly(FaultyDecoder):
    """Reads reasoning summaries but not reasoning text."""

    fails = ("RSN-1",)
    says = "expected the reasoning "
    apis = ("deepseek:responses",)
    decoders = MappingProxyType({ResponsesDecoder: SummariesOnly})


class WithoutDetails(ChatDecoder):
    def _feed_reasoning(self, reasoning: str, details: Any = ()) -> Events:
        return super()._feed_reasoning(reasoning)


class DetailsOfTheReasoningLeftOut(FaultyDecoder):
    """Ignores reasoning that comes as a list of details."""

    apis = ("databricks:chat", "snowflake:chat")
    fails = ("RSN-1", "RSN-4")
    says = "reasoning"
    decoders = MappingProxyType({ChatDecoder: WithoutDetails})


# RSN-2


class ReasoningTrimmed(FaultyResponse):
    """Strips the white space around the reasoning."""

    fails = ("RSN-2",)
    says = "they differ at code point"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=response.reasoning and response.reasoning.strip())


class PartsWithBlankLines(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        if kind == "response.reasoning_summary_part.added" and event["summary_index"]:
            event = {**event, "type": "response.reasoning_summary_text.delta", "delta": "\n\n"}
        yield from super()._feed_event(event["type"], event)


class SummaryPartsPutApart(FaultyDecoder):
    """Puts blank lines between the parts of a reasoning summary."""

    fails = ("RSN-2",)
    says = "they differ at code point"
    decoders = MappingProxyType({ResponsesDecoder: PartsWithBlankLines})


# RSN-3


class TextBeforeReasoning(FaultyResponse):
    """Puts all text segments before the reasoning."""

    fails = ("RSN-3", "RSN-4")
    says = "expected segments"

    def alter(self, response: Response, call: Call) -> Response:
        order = {"text": 0, "reasoning": 1}
        return replace(response, segments=tuple(sorted(response.segments, key=lambda s: order.get(s.type, 2))))


class NewBlockForEachDelta(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        for event in super()._feed_content(content):
            self._answer.blocks[-1].key = object()
            yield event


class SegmentForEachDelta(FaultyDecoder):
    """Makes a segment of every delta."""

    fails = ("RSN-3",)
    says = "expected segments"
    decoders = MappingProxyType({ChatDecoder: NewBlockForEachDelta})


# RSN-4


class RedactedBlockDropped(FaultyResponse):
    """Drops redacted reasoning."""

    fails = ("RSN-4",)
    says = "opaque data"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, segments=tuple(s for s in response.segments if "redacted" not in s.metadata))


class SignatureDropped(FaultyResponse):
    """Drops the signatures of reasoning."""

    fails = ("RSN-4",)
    says = "opaque data .*signature"

    def alter(self, response: Response, call: Call) -> Response:
        bare = [
            replace(segment, metadata={key: value for key, value in segment.metadata.items() if key != "signature"})
            for segment in response.segments
        ]
        return replace(response, segments=tuple(bare))


class SignaturesJoined(FaultyResponse):
    """Joins the signatures of all blocks."""

    fails = ("RSN-4",)
    says = "opaque data .*signature"

    def alter(self, response: Response, call: Call) -> Response:
        joined = ""
        segments: list[Segment] = []
        for segment in response.segments:
            joined += segment.metadata.get("signature", "")
            signed = {**segment.metadata, "signature": joined} if "signature" in segment.metadata else segment.metadata
            segments.append(replace(segment, metadata=signed))
        return replace(response, segments=tuple(segments))


class FirstEncryptedContent(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        if kind == "response.output_item.added" and event["item"].get("encrypted_content"):
            self._early = event["item"]["encrypted_content"]
        yield from super()._feed_event(kind, event)

    def _seal(self, index: int, encrypted: str | None) -> None:
        super()._seal(index, encrypted and getattr(self, "_early", encrypted))


class EncryptedContentOfTheAddedItem(FaultyDecoder):
    """Keeps the encrypted content of the added item instead of the finished one."""

    fails = ("RSN-4",)
    says = "expected opaque data"
    decoders = MappingProxyType({ResponsesDecoder: FirstEncryptedContent})


class WithoutSignatures(InteractionsDecoder):
    def _sign(self, index: object, signature: str | None) -> None:
        """Take no signature."""


class SignaturesOfStepsLost(FaultyDecoder):
    """Drops the signatures of an interaction's steps."""

    fails = ("RSN-4",)
    says = "expected opaque data"
    decoders = MappingProxyType({InteractionsDecoder: WithoutSignatures})


class DetailsWithReasoningOnly(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        return super()._feed_message(message if message.get("reasoning") else {**message, "reasoning_details": None})


class DetailsWithoutTextLost(FaultyDecoder):
    """Drops `reasoning_details` without text."""

    apis = ("openrouter:chat",)
    fails = ("RSN-4",)
    says = "expected opaque data"
    decoders = MappingProxyType({ChatDecoder: DetailsWithReasoningOnly})


class ItemsById(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        id = event.get("item_id") or event.get("item", {}).get("id")
        return super()._feed_event(kind, {**event, "output_index": id} if id else event)


class ItemsOfOneIdTakenForOne(FaultyDecoder):
    """Treats items with the same id as one, although xAI gives it to several."""

    fails = ("RSN-4",)
    says = "expected opaque data"
    apis = ("xai:responses",)
    decoders = MappingProxyType({ResponsesDecoder: ItemsById})


class WithoutSeals(ChatDecoder):
    def _seal(self, name: str, value: str | None) -> None:
        """Lose it."""


class SealedReasoningLost(FaultyDecoder):
    """Drops Copilot's encrypted reasoning."""

    apis = ("copilot:chat",)
    fails = ("RSN-4",)
    says = "expected opaque data"
    decoders = MappingProxyType({ChatDecoder: WithoutSeals})
