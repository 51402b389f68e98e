"""Broken adapters that show the wrong thing: in shape, message, reasoning or citations."""

from __future__ import annotations

import re
from dataclasses import replace

from llm_conformance.contract import Annotation, Call, Response, Segment
from tests.broken.kinds import Plain


def span(annotation: Annotation) -> tuple[int, int] | None:
    """Return an annotation's span, None if it has none."""
    return None if annotation.start is None or annotation.end is None else (annotation.start, annotation.end)


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


# ANN


class Moved(Plain):
    """Moves the spans of annotations."""

    def alter(self, response: Response, call: Call) -> Response:
        moved = []
        for annotation in response.annotations:
            found = span(annotation)
            start, end = self.move(response.message, annotation, *found) if found else (None, None)
            moved.append(replace(annotation, start=start, end=end))
        return replace(response, annotations=tuple(moved))

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        raise NotImplementedError


class SpanOutsideTheMessage(Plain):
    fails = ("ANN-1",)
    says = "expected 0 <= start <= end <= "

    def alter(self, response: Response, call: Call) -> Response:
        passed_on = [
            replace(annotation, start=764, end=985) if annotation.start is None else annotation
            for annotation in response.annotations
        ]
        return replace(response, annotations=tuple(passed_on))


class InclusiveEnd(Moved):
    fails = ("ANN-2", "ANN-5")
    says = "the end is the last code point, not one behind it"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return start, max(start, end - 1)


class Utf16Offsets(Moved):
    fails = ("ANN-2", "ANN-1", "ANN-5")
    says = "these are UTF-16 code units"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return len(message[:start].encode("utf-16-le")) // 2, len(message[:end].encode("utf-16-le")) // 2


class ByteOffsets(Moved):
    fails = ("ANN-2", "ANN-1", "ANN-5")
    says = "these are UTF-8 bytes"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return len(message[:start].encode()), len(message[:end].encode())


class OffsetsCountedPerBlock(Moved):
    fails = ("ANN-2", "ANN-5")
    says = "these are counted from the beginning of the block"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return 0, end - start


class SpanSearchedForByItsText(Moved):
    fails = ("ANN-2",)
    says = "expected .* at "

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        first = message.index(message[start:end])
        return first, first + end - start


class DocumentOffsetsTakenForMessageOffsets(Moved):
    fails = ("ANN-3", "ANN-2", "ANN-1")
    says = "the offsets into the document"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        data = annotation.data
        return data.get("start_char_index", start), data.get("end_char_index", end)


class CitationOnThePreviousBlock(Moved):
    fails = ("ANN-2",)
    says = "expected .* at "

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return (max(0, start - 5), start) if "cited_text" in annotation.data else (start, end)


class SourceTitleDropped(Plain):
    fails = ("ANN-3",)
    says = "expected data.(document_)?title"

    def alter(self, response: Response, call: Call) -> Response:
        bare = [
            replace(annotation, data={k: v for k, v in annotation.data.items() if k not in ("document_title", "title")})
            for annotation in response.annotations
        ]
        return replace(response, annotations=tuple(bare))


class LastAnnotationLost(Plain):
    fails = ("ANN-4",)
    says = "expected the number of annotations"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, annotations=response.annotations[:-1])


class AnnotationsRepeated(Plain):
    fails = ("ANN-4",)
    says = "expected the number of annotations"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, annotations=response.annotations * 2)


class NotRebasedBehindThinkPrefix(Plain):
    fails = ("ANN-5", "ANN-2", "ANN-1")
    says = "expected .* at "

    def alter(self, response: Response, call: Call) -> Response:
        if call.think_profile == "off" or not response.annotations:
            return response
        wire = response.raw_events[0]["choices"][0]["message"].get("annotations") or ()
        spans = [(found["url_citation"]["start_index"], found["url_citation"]["end_index"]) for found in wire]
        moved = [
            replace(annotation, start=start, end=end)
            for annotation, (start, end) in zip(response.annotations, spans, strict=True)
        ]
        return replace(response, annotations=tuple(moved))
