"""Broken adapters that put citations where they are not."""

from __future__ import annotations

from dataclasses import replace

from llm_conformance.contract import Annotation, Call, Response
from tests.broken.kinds import Plain


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
        wire = response.raw_events[0]["choices"][0]["message"].get("annotations")
        if not wire:  # they are lists of what was found, which have no place
            return response
        spans = [(found["url_citation"]["start_index"], found["url_citation"]["end_index"]) for found in wire]
        moved = [
            replace(annotation, start=start, end=end)
            for annotation, (start, end) in zip(response.annotations, spans, strict=True)
        ]
        return replace(response, annotations=tuple(moved))
