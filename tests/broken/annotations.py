"""Broken adapters that fail ANN-1 to ANN-5 first: citations are misplaced, lost or doubled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat_decoder import ChatDecoder
from adapters._converse import ConverseDecoder
from adapters._generate import GenerateDecoder
from adapters._responses import ResponsesDecoder
from adapters.cohere import CohereDecoder
from adapters.gemini_interactions import InteractionsDecoder
from llm_conformance.contract import Annotation, Call, Response
from tests.broken.base import Events, Misunderstood, Plain, Streamed

# ANN-1


class SpanOutsideTheMessage(Plain):
    fails = ("ANN-1",)
    says = "expected 0 <= start <= end <= "

    def alter(self, response: Response, call: Call) -> Response:
        passed_on = [
            replace(annotation, start=764, end=985) if annotation.start is None else annotation
            for annotation in response.annotations
        ]
        return replace(response, annotations=tuple(passed_on))


class Clamping(GenerateDecoder):
    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        placed = super()._placed(citation)
        text, segment = self._answer.message.encode("utf-8"), citation.get("segment", {})
        if placed.start is not None or "startIndex" not in segment:
            return placed
        start, end = (len(text[:at].decode("utf-8", "ignore")) for at in (segment["startIndex"], segment["endIndex"]))
        return replace(placed, start=start, end=end)


class SpansClampedIntoTheText(Misunderstood):
    fails = ("ANN-1",)
    says = "expected neither start nor end"
    decoders = MappingProxyType({GenerateDecoder: Clamping})


class TraceOffsetsTaken(CohereDecoder):
    def _feed_citation(self, citation: Mapping[str, Any]) -> Events:
        if citation.get("type") != "THINKING_CONTENT":
            return super()._feed_citation(citation)
        return self._answer.annotate(Annotation(citation["start"], citation["end"], citation))


class CitationOfTheThinkingPlaced(Misunderstood):
    fails = ("ANN-1",)
    says = "expected neither start nor end"
    decoders = MappingProxyType({CohereDecoder: TraceOffsetsTaken})


# ANN-2


def span(annotation: Annotation) -> tuple[int, int] | None:
    """Return an annotation's span, None if it has none."""
    return None if annotation.start is None or annotation.end is None else (annotation.start, annotation.end)


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


class CitationOnThePreviousBlock(Moved):
    fails = ("ANN-2",)
    says = "expected .* at "

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return (max(0, start - 5), start) if "cited_text" in annotation.data else (start, end)


class Baseless(CohereDecoder):
    def _feed_citation(self, citation: Mapping[str, Any]) -> Events:
        self._starts = {}
        return super()._feed_citation(citation)


class ContentIndexIgnored(Misunderstood):
    fails = ("ANN-2",)
    says = "expected .*2 mm outside the line"
    decoders = MappingProxyType({CohereDecoder: Baseless})


class Partless(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Events:
        yield from super()._feed_text(key, piece)
        self._starts[key] = 0


class OffsetsOfThePartTakenForTheWhole(Misunderstood):
    fails = ("ANN-2",)
    says = "expected .*pegel.example"
    decoders = MappingProxyType({ResponsesDecoder: Partless})


class Counting(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Events:
        return super()._feed_text((key[0], 0), piece)

    def _placed(self, key: tuple[int, int], annotation: Mapping[str, Any]) -> Annotation:
        return super()._placed((key[0], 0), annotation)


class PartsOfAMessageTakenForOne(Misunderstood):
    fails = ("ANN-2", "RSN-3")
    says = "expected .*imkerei.example"
    decoders = MappingProxyType({ResponsesDecoder: Counting})


class BytesOfAStepTakenForCodePoints(InteractionsDecoder):
    def _placed(self, key: object, citation: Mapping[str, Any]) -> Annotation:
        return replace(super()._placed(key, citation), start=citation["start_index"], end=citation["end_index"])


class AnnotationsOfStepsNotConverted(Misunderstood):
    fails = ("ANN-2", "ANN-1", "ANN-5")
    says = "these are UTF-8 bytes"
    decoders = MappingProxyType({InteractionsDecoder: BytesOfAStepTakenForCodePoints})


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


# ANN-3


class DocumentOffsetsTakenForMessageOffsets(Moved):
    fails = ("ANN-3", "ANN-2", "ANN-1")
    says = "the offsets into the document"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        data = annotation.data
        return data.get("start_char_index", start), data.get("end_char_index", end)


class SourceTitleDropped(Plain):
    fails = ("ANN-3",)
    says = "expected data.(document_)?title"

    def alter(self, response: Response, call: Call) -> Response:
        bare = [
            replace(annotation, data={k: v for k, v in annotation.data.items() if k not in ("document_title", "title")})
            for annotation in response.annotations
        ]
        return replace(response, annotations=tuple(bare))


class GroundingChunksLeftBehind(Plain):
    fails = ("ANN-3",)
    says = "data.groundingChunks"

    def alter(self, response: Response, call: Call) -> Response:
        kept = [
            replace(each, data={key: value for key, value in each.data.items() if key != "groundingChunks"})
            for each in response.annotations
        ]
        return replace(response, annotations=tuple(kept))


# ANN-4


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


class FirstCitationsOnly(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        return super()._feed_message({**message, "annotations": None} if self._citations else message)


class AnnotationsOfTheFirstChunkOnly(Misunderstood):
    fails = ("ANN-4",)
    says = "expected the number of annotations"
    decoders = MappingProxyType({ChatDecoder: FirstCitationsOnly})


def repeated(response: Response) -> Response:
    return replace(response, annotations=tuple(each for each in response.annotations for _ in range(2)))


class LateAnnotationsRepeated(Streamed):
    """Has them once as they came, and once more from the end of the stream."""

    fails = ("ANN-4",)
    says = "expected the number of annotations"

    def alter(self, events: Events) -> Events:
        for event in events:
            if event.event_type == "response.annotation.added":
                yield event
            yield replace(event, response=event.response and repeated(event.response))


# ANN-5


class NotRebasedBehindThinkPrefix(Plain):
    fails = ("ANN-5", "ANN-2", "ANN-1")
    says = "expected .* at "

    def alter(self, response: Response, call: Call) -> Response:
        if call.think_profile == "off" or not response.annotations:
            return response
        wire = response.raw_events[0]["choices"][0]["message"].get("annotations")
        if not wire:  # they are lists of what was found, which have no place
            return response
        spans = [(found["url_citation"]["start_index"], found["url_citation"]["end_index"]) for found in wire]
        moved = [
            replace(annotation, start=start, end=end)
            for annotation, (start, end) in zip(response.annotations, spans, strict=True)
        ]
        return replace(response, annotations=tuple(moved))


class BytesTakenForCodePoints(GenerateDecoder):
    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        placed = super()._placed(citation)
        text = self._answer.message
        start, end = (None if at is None else len(text[:at].encode()) for at in (placed.start, placed.end))
        return replace(placed, start=start, end=end)


class GroundingOffsetsNotConverted(Misunderstood):
    fails = ("ANN-5", "ANN-1", "ANN-2")
    says = "these are UTF-8 bytes"
    decoders = MappingProxyType({GenerateDecoder: BytesTakenForCodePoints})
