"""Broken adapters that fail ANN-2 first: a span does not cover the text that its citation is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._converse import ConverseDecoder
from adapters._responses import ResponsesDecoder
from adapters.cohere import CohereDecoder
from llm_conformance.contract import Annotation, Call, Response
from tests.broken.base import Events, FaultyDecoder, FaultyResponse

# ANN-2


class FaultySpans(FaultyResponse):
    """Moves the spans of annotations with `move`."""

    def alter(self, response: Response, call: Call) -> Response:
        moved = []
        for annotation in response.annotations:
            start, end = annotation.start, annotation.end
            if start is not None and end is not None:
                start, end = self.move(response.message, annotation, start, end)
            moved.append(replace(annotation, start=start, end=end))
        return replace(response, annotations=tuple(moved))

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        raise NotImplementedError


class InclusiveEnd(FaultySpans):
    """Ends each span one code point too early."""

    fails = ("ANN-2", "ANN-5")
    says = "the end is the last code point, not the one after it"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return start, max(start, end - 1)


class Utf16Offsets(FaultySpans):
    """Counts spans in UTF-16 code units."""

    fails = ("ANN-2", "ANN-1", "ANN-5")
    says = "these are UTF-16 code units"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return len(message[:start].encode("utf-16-le")) // 2, len(message[:end].encode("utf-16-le")) // 2


class ByteOffsets(FaultySpans):
    """Counts spans in UTF-8 bytes."""

    fails = ("ANN-2", "ANN-1", "ANN-5")
    says = "these are UTF-8 bytes"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return len(message[:start].encode()), len(message[:end].encode())


class OffsetsCountedPerBlock(FaultySpans):
    """Counts spans from the beginning of each text block."""

    fails = ("ANN-2", "ANN-5")
    says = "these are counted from the beginning of the block"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return 0, end - start


class SpanSearchedForByItsText(FaultySpans):
    """Places a citation at the first occurrence of its text."""

    fails = ("ANN-2",)
    says = "expected .* at "

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        first = message.index(message[start:end])
        return first, first + end - start


class DocumentOffsetsTakenForMessageOffsets(FaultySpans):
    """Takes offsets into the cited document for offsets into the message."""

    fails = ("ANN-2", "ANN-1")
    says = "these are offsets into the cited document"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        data = annotation.data
        return data.get("start_char_index", start), data.get("end_char_index", end)


class CitationOnThePreviousBlock(FaultySpans):
    """Places a citation on the text before the block that it covers."""

    fails = ("ANN-2",)
    says = "expected .* at "

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return (max(0, start - 5), start) if "cited_text" in annotation.data else (start, end)


class CountedInTheMessage(CohereDecoder):
    def _feed_citation(self, citation: Mapping[str, Any]) -> Events:
        self._starts = {}
        return super()._feed_citation(citation)


class ContentIndexIgnored(FaultyDecoder):
    """Counts Cohere's citation offsets from the beginning of the message instead of their content block."""

    fails = ("ANN-2",)
    says = "expected .*2 mm outside the line"
    decoders = MappingProxyType({CohereDecoder: CountedInTheMessage})


class PartsStartAtZero(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Events:
        yield from super()._feed_text(key, piece)
        self._starts[key] = 0


class OffsetsOfThePartTakenForTheWhole(FaultyDecoder):
    """Counts the offsets of a content part from the beginning of the message."""

    fails = ("ANN-2",)
    says = "expected .*pegel.example"
    decoders = MappingProxyType({ResponsesDecoder: PartsStartAtZero})


class OnePartForAll(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Events:
        return super()._feed_text((key[0], 0), piece)

    def _placed(self, key: tuple[int, int], annotation: Mapping[str, Any]) -> Annotation:
        return super()._placed((key[0], 0), annotation)


class PartsOfAMessageTakenForOne(FaultyDecoder):
    """Treats the content parts of a message item as one."""

    fails = ("ANN-2", "RSN-3")
    says = "expected .*imkerei.example"
    decoders = MappingProxyType({ResponsesDecoder: OnePartForAll})


class PlacedAtOnce(ConverseDecoder):
    def _feed_delta(self, index: int, delta: Mapping[str, Any]) -> Events:
        yield from super()._feed_delta(index, delta)
        if "citation" in delta:
            self._index = None
            yield from self._move_to(index)


class CitationsPlacedAsTheyCome(FaultyDecoder):
    """Places a citation on the text so far, although its text comes later."""

    fails = ("ANN-2",)
    says = 'got "" at'
    decoders = MappingProxyType({ConverseDecoder: PlacedAtOnce})
