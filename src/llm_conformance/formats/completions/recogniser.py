"""Recogniser of text completions. It tells which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.completions.variations import (
    COUNTS,
    COUNTS_OF_A_STREAM,
    FINISH_OF_A_STREAM,
    METRICS,
    NO_COUNTS_IN_A_CHUNK,
    NO_FINISH,
    PINGS,
    SHAPE,
)
from llm_conformance.generate.variations import Variation, emptiness_of
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.providers.api import Api

Found = Iterator[tuple[Variation, str]]

_MARKS: Mapping[str, str] = {
    "choices": "choices",
    "completion": "completion",
    "response": "response",
    "generation": "generation",
    "results": "results",
    "outputText": "results",
    "outputs": "outputs",
    "generations": "generations",
    "is_finished": "generations",
}
"""Maps a field to the shape of the documents that have it."""
_PLACES: Mapping[str, tuple[str, str]] = {
    "choices": ("text", "finish_reason"),
    "completion": ("completion", "stop_reason"),
    "generation": ("generation", "stop_reason"),
    "results": ("outputText", "completionReason"),
    "outputs": ("text", "stop_reason"),
}
"""Maps a shape to (field with the text, field with the finish word) of its pieces."""
_METRICS = "amazon-bedrock-invocationMetrics"
_COUNTS = (
    *("usage", "eval_count", "prompt_token_count", "generation_token_count"),
    *("inputTextTokenCount", "totalOutputTextTokenCount"),
)


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer."""
    yield SHAPE, _shape(body)
    yield COUNTS, "given" if any(body.get(name) for name in _COUNTS) else "absent"


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream."""
    events = [document for document in documents if document != DONE]
    chunks = [event for event in events if event.get("type") != "ping"]
    shape = _shape(chunks[0])
    yield SHAPE, shape
    if len(chunks) < len(events):
        yield PINGS, "anywhere"
    if shape == "choices":
        yield from _counts(chunks)
    else:
        yield COUNTS_OF_A_STREAM, "with the end" if _has_counts(chunks[-1]) else "never"
    if shape in _PLACES:
        yield from _ends([_piece(chunk) for chunk in chunks], *_PLACES[shape])
    if shape == "response":
        has_text = any(chunk["response"] for chunk in chunks)
        way = "with text" if chunks[-1]["response"] else "apart"
        yield from [(FINISH_OF_A_STREAM, way)] if has_text else []
    if api.framing.name == "aws chunks":
        yield METRICS, "given" if _METRICS in chunks[-1] else "absent"


def _shape(document: Mapping[str, Any]) -> str:
    return next((shape for mark, shape in _MARKS.items() if mark in document), "new")


def _has_counts(chunk: Mapping[str, Any]) -> bool:
    return _METRICS in chunk or any(chunk.get(name) is not None for name in _COUNTS)


def _counts(chunks: Sequence[Mapping[str, Any]]) -> Found:
    counted = [chunk for chunk in chunks if chunk.get("usage")]
    apart = any(not chunk["choices"] for chunk in counted)
    yield COUNTS_OF_A_STREAM, "apart" if apart else "with the end" if counted else "never"
    for chunk in chunks:
        nothing = emptiness_of(chunk, "usage")
        if nothing:
            yield NO_COUNTS_IN_A_CHUNK, nothing


def _piece(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the object with the text of a chunk; None if the chunk has no choice."""
    for name in ("choices", "outputs"):
        if name in chunk:
            first = [each for each in chunk[name] if each.get("index", 0) == 0]
            return first[0] if first else None
    return chunk


def _ends(pieces: Sequence[Mapping[str, Any] | None], text: str, finish: str) -> Found:
    has_text = any(piece and piece.get(text) for piece in pieces)
    for piece in pieces:
        if piece is None:
            continue
        if piece.get(finish):
            if has_text:  # an empty text has no last piece
                yield FINISH_OF_A_STREAM, "with text" if piece.get(text) else "apart"
        else:
            yield NO_FINISH, "null" if finish in piece else "absent"
