"""Broken adapters that show the wrong thing: in shape, message or reasoning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters.cloudflare_run import RunDecoder
from llm_conformance.contract import Call, Response, Segment, StreamEvent
from tests.broken.kinds import Misunderstood, Plain

# SHP


class CostAsText(Plain):
    fails = ("SHP-1",)
    says = "'0.0' is not of type 'number'"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, cost_usd="0.0")  # type: ignore[arg-type]


class NullForNoMessage(Plain):
    fails = ("SHP-1", "MSG-1", "MSG-2", "RSN-3", "ANN-1", "ATT-1")
    says = "None is not of type 'string'"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or None)  # type: ignore[arg-type]


class RawFinishReason(Plain):
    fails = ("SHP-1", "FIN-1")
    says = "is not one of"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason=response.raw_finish_reason)  # type: ignore[arg-type]


# MSG


class ReasoningFallsBackIntoEmptyMessage(Plain):
    fails = ("MSG-1", "MSG-2", "RSN-3")
    says = "the message also holds"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or response.reasoning or "")


class UnclosedThinkLeft(Plain):
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3")
    says = "<think>"

    def alter(self, response: Response, call: Call) -> Response:
        if response.message or not any(segment.metadata.get("source") == "tag" for segment in response.segments):
            return response
        return replace(response, message=f"<think>{response.reasoning}", reasoning=None)


class TrimmedMessage(Plain):
    fails = ("MSG-2", "RSN-3", "ANN-2", "ATT-1")
    says = "they differ|expected the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message.strip())


class FirstTextBlockOnly(Plain):
    fails = ("MSG-2", "RSN-3", "ANN-1", "ANN-2", "ANN-5")
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        texts = [segment.content for segment in response.segments if segment.type == "text"]
        return replace(response, message=texts[0] if texts else "")


class EnvelopeForNoContent(Plain):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or str({"id": response.id}))


class TextOnly(RunDecoder):
    def _feed_content(self, content: Any) -> Iterator[StreamEvent]:
        if isinstance(content, str):
            yield from super()._feed_content(content)


class ContentThatIsNoTextLost(Misunderstood):
    fails = ("MSG-2", "RSN-3", "STR-7")
    says = "expected the (JSON of the )?message"
    decoders = MappingProxyType({RunDecoder: TextOnly})


class OverlapsDoubleTheText(Plain):
    fails = ("MSG-2", "RSN-3", "ANN-2")
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        message, done = "", 0
        for each in sorted(response.annotations, key=lambda each: each.start or 0):
            if each.start is not None:
                message += response.message[done : each.start] + response.message[each.start : each.end]
                done = each.end or 0
        return replace(response, message=message + response.message[done:])


class TranscriptInTheText(Plain):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        spoken = "".join(each.transcript or "" for each in response.attachments)
        return replace(response, message=response.message + spoken)


class CrashOnARedactedBlock(Plain):
    """An answer that does not come fails every rule that has something to look at in it."""

    fails = (
        *("RSN-4", "RSN-1", "RSN-2", "RSN-3", "MSG-1", "MSG-2", "ANN-4", "TOOL-1", "FIN-1"),
        *("USE-1", "USE-2", "USE-3", "USE-4", "SHP-1", "ERR-4", "PRV-1", "PRV-2", "PRV-3"),
    )
    says = "raised KeyError"

    def alter(self, response: Response, call: Call) -> Response:
        if any("redacted" in each.metadata for each in response.segments):
            raise KeyError("thinking")
        return response


class LiteralTagsDeleted(Plain):
    fails = ("MSG-3", "MSG-2", "RSN-3")
    says = "times '<think' in the message; got 0 times"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=re.sub("</?think>", "", response.message))


# RSN


class ReasoningDropped(Plain):
    fails = ("RSN-1", "RSN-3")
    says = "expected the reasoning .*; got null"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=None)


class ReasoningDoubled(Plain):
    fails = ("RSN-1", "RSN-2", "RSN-3")
    says = "expected the reasoning of"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=response.reasoning and response.reasoning * 2)


class ReasoningTrimmed(Plain):
    fails = ("RSN-2", "RSN-3")
    says = "they differ at code point"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=response.reasoning and response.reasoning.strip())


class TextBeforeReasoning(Plain):
    fails = ("RSN-3", "RSN-4")
    says = "expected segments"

    def alter(self, response: Response, call: Call) -> Response:
        order = {"text": 0, "reasoning": 1}
        return replace(response, segments=tuple(sorted(response.segments, key=lambda s: order.get(s.type, 2))))


class RedactedBlockDropped(Plain):
    fails = ("RSN-4", "RSN-3")
    says = "opaque data"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, segments=tuple(s for s in response.segments if "redacted" not in s.metadata))


class SignatureDropped(Plain):
    fails = ("RSN-4", "RSN-3")
    says = "opaque data .*signature"

    def alter(self, response: Response, call: Call) -> Response:
        bare = [
            replace(segment, metadata={key: value for key, value in segment.metadata.items() if key != "signature"})
            for segment in response.segments
        ]
        return replace(response, segments=tuple(bare))


class SignaturesJoined(Plain):
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
