"""Broken adapters that fail ANN-1, ANN-3, ANN-4 or ANN-5 first: citations are misplaced, lost or doubled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat_decoder import ChatDecoder
from adapters._generate import GenerateDecoder
from adapters.cohere import CohereDecoder
from adapters.gemini_interactions import InteractionsDecoder
from llm_conformance.contract import Annotation, Call, Response
from tests.broken.base import Events, FaultyDecoder, FaultyEvents, FaultyResponse

# ANN-1, ANN-4


class SpanOutsideTheMessage(FaultyResponse):
    """Gives annotations without a place a span beyond the end of the message."""

    fails = ("ANN-1",)
    says = "expected 0 <= start <= end <= "

    def alter(self, response: Response, call: Call) -> Response:
        passed_on = [
            replace(annotation, start=764, end=985) if annotation.start is None else annotation
            for annotation in response.annotations
        ]
        return replace(response, annotations=tuple(passed_on))


class OffsetsClamped(GenerateDecoder):
    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        placed = super()._placed(citation)
        text, segment = self._answer.message.encode("utf-8"), citation.get("segment", {})
        if placed.start is not None or "startIndex" not in segment:
            return placed
        start, end = (len(text[:at].decode("utf-8", "ignore")) for at in (segment["startIndex"], segment["endIndex"]))
        return replace(placed, start=start, end=end)


class SpansClampedIntoTheText(FaultyDecoder):
    """Clamps invalid grounding offsets into the text instead of leaving them out."""

    fails = ("ANN-1",)
    says = "expected neither start nor end"
    decoders = MappingProxyType({GenerateDecoder: OffsetsClamped})


class CitationSourcesOnly(GenerateDecoder):
    def _feed_candidate(self, candidate: Mapping[str, Any]) -> Events:
        recited = {**(candidate.get("citationMetadata") or {}), "citations": ()}
        return super()._feed_candidate({**candidate, "citationMetadata": recited})


class CitationsOfVertexIgnored(FaultyDecoder):
    """Looks for recitations only in `citationSources`, where the Gemini API has them."""

    apis = ("vertex:generate",)
    fails = ("ANN-4",)
    says = "expected the number of annotations 2"
    decoders = MappingProxyType({GenerateDecoder: CitationSourcesOnly})


class ThinkingOffsetsKept(CohereDecoder):
    def _feed_citation(self, citation: Mapping[str, Any]) -> Events:
        if citation.get("type") != "THINKING_CONTENT":
            return super()._feed_citation(citation)
        return self._answer.annotate(Annotation(citation["start"], citation["end"], citation))


class CitationOfTheThinkingPlaced(FaultyDecoder):
    """Places a citation of the thinking in the message."""

    fails = ("ANN-1",)
    says = "expected neither start nor end"
    decoders = MappingProxyType({CohereDecoder: ThinkingOffsetsKept})


class NotRebasedBehindThinkPrefix(FaultyResponse):
    """Counts spans in the text that still has its think block."""

    fails = ("ANN-1",)
    says = "expected 0 <= start <= end <= "

    def alter(self, response: Response, call: Call) -> Response:
        if call.think_profile == "off" or not response.annotations:
            return response
        wire = response.raw_events[0]["choices"][0]["message"].get("annotations")
        if not wire:  # these annotations come from a list of search results, and have no place
            return response
        spans = [(found["url_citation"]["start_index"], found["url_citation"]["end_index"]) for found in wire]
        moved = [
            replace(annotation, start=start, end=end)
            for annotation, (start, end) in zip(response.annotations, spans, strict=True)
        ]
        return replace(response, annotations=tuple(moved))


# ANN-3


class SourceTitleDropped(FaultyResponse):
    """Drops the title of a cited source."""

    fails = ("ANN-3",)
    says = "expected data.(document_)?title"

    def alter(self, response: Response, call: Call) -> Response:
        bare = [
            replace(annotation, data={k: v for k, v in annotation.data.items() if k not in ("document_title", "title")})
            for annotation in response.annotations
        ]
        return replace(response, annotations=tuple(bare))


class GroundingChunksLeftBehind(FaultyResponse):
    """Drops the grounding chunks that a citation refers to."""

    fails = ("ANN-3",)
    says = "data.groundingChunks"

    def alter(self, response: Response, call: Call) -> Response:
        kept = [
            replace(each, data={key: value for key, value in each.data.items() if key != "groundingChunks"})
            for each in response.annotations
        ]
        return replace(response, annotations=tuple(kept))


# ANN-4


class LastAnnotationLost(FaultyResponse):
    """Drops the last annotation."""

    fails = ("ANN-4",)
    says = "expected the number of annotations"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, annotations=response.annotations[:-1])


class AnnotationsRepeated(FaultyResponse):
    """Returns every annotation twice."""

    fails = ("ANN-4",)
    says = "expected the number of annotations"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, annotations=response.annotations * 2)


class FirstCitationsOnly(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        return super()._feed_message({**message, "annotations": None} if self._citations else message)


class AnnotationsOfTheFirstChunkOnly(FaultyDecoder):
    """Keeps only the annotations of the first chunk that has any."""

    fails = ("ANN-4",)
    says = "expected the number of annotations"
    decoders = MappingProxyType({ChatDecoder: FirstCitationsOnly})


def repeated(response: Response) -> Response:
    return replace(response, annotations=tuple(each for each in response.annotations for _ in range(2)))


class LateAnnotationsRepeated(FaultyEvents):
    """Returns each annotation of a stream twice, in the events and in the response."""

    fails = ("ANN-4",)
    says = "expected the number of annotations"

    def alter(self, events: Events) -> Events:
        for event in events:
            if event.event_type == "response.annotation.added":
                yield event
            yield replace(event, response=event.response and repeated(event.response))


# ANN-5


class OffsetsInBytes(GenerateDecoder):
    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        placed = super()._placed(citation)
        text = self._answer.message
        start, end = (None if at is None else len(text[:at].encode()) for at in (placed.start, placed.end))
        return replace(placed, start=start, end=end)


class GroundingOffsetsNotConverted(FaultyDecoder):
    """Leaves Gemini's grounding offsets in UTF-8 bytes."""

    fails = ("ANN-5", "ANN-1")
    says = "these are UTF-8 bytes"
    decoders = MappingProxyType({GenerateDecoder: OffsetsInBytes})


class OffsetsUnchanged(InteractionsDecoder):
    def _placed(self, key: object, citation: Mapping[str, Any]) -> Annotation:
        return replace(super()._placed(key, citation), start=citation["start_index"], end=citation["end_index"])


class AnnotationsOfStepsNotConverted(FaultyDecoder):
    """Takes the byte offsets of an interaction's step for code points of the message."""

    fails = ("ANN-5", "ANN-1")
    says = "these are UTF-8 bytes"
    decoders = MappingProxyType({InteractionsDecoder: OffsetsUnchanged})
