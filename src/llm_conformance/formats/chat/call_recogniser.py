"""Read the ways of the calls of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.chat import variations as v
from llm_conformance.formats.chat.fields import list_fields
from llm_conformance.formats.chat.stream_recogniser import choice_of
from llm_conformance.generate.variations import Variation, emptiness_of

Found = Iterator[tuple[Variation, str]]
Piece = Mapping[str, Any]


def ways_of_calls(calls: Sequence[Piece]) -> Found:
    """Yield the ways of the calls of a message."""
    for call in calls:
        yield v.TYPE, emptiness_of(call, "type") or "given"
        yield v.INDEXED, "unnumbered" if call.get("index") is None else "numbered"
        yield from _without_arguments(call.get("function", {}).get("arguments"))


def ways_of_pieces(chunks: Sequence[Any]) -> Found:
    """Yield the ways of the calls of a stream."""
    deltas = [(choice_of(chunk).get("delta") or {}).get("tool_calls") or [] for chunk in chunks]
    calls = _calls(deltas)
    for pieces in calls:
        yield from _ways_of_a_call(pieces)
    yield from _ways_of_numbers([pieces[0] for pieces in calls])
    if len(calls) > 1:
        yield v.ORDER, _order(deltas, calls)


def _arguments(piece: Piece) -> str:
    return piece.get("function", {}).get("arguments") or ""


def _without_arguments(whole: str | None) -> Found:
    if whole is not None and whole in ("", "{}"):
        yield v.NO_ARGUMENTS, "an object" if whole else "empty"


def _calls(deltas: Sequence[Sequence[Piece]]) -> list[list[Piece]]:
    """Return the pieces of each call."""
    calls: list[list[Piece]] = []
    for piece in (piece for delta in deltas for piece in delta):
        own = next((call for call in reversed(calls) if call[0].get("index") == piece.get("index")), None)
        known = own is not None and piece.get("id") in (None, "", "null", own[0].get("id"))
        if own is None or not known or (piece.get("index") is None and piece.get("id")):
            calls.append([piece])
        else:
            own.append(piece)
    return calls


def _ways_of_a_call(pieces: Sequence[Piece]) -> Found:
    first, *rest = pieces
    yield v.TYPE, emptiness_of(first, "type") or "given"
    yield from _without_arguments("".join(map(_arguments, pieces)))
    if rest:
        yield v.PIECES, "first with arguments" if _arguments(first) else "first without arguments"
        if not _arguments(first):
            yield v.FIRST_ARGUMENTS, emptiness_of(first.get("function", {}), "arguments") or "empty"
        yield v.EMPTY_PIECES, "none" if all(map(_arguments, rest)) else "some"
    elif _arguments(first):
        yield v.PIECES, "whole"
    for piece in rest:
        fields = {**piece, **piece.get("function", {})}
        yield v.LATER_PIECES, list_fields(fields, ("id", "type", "name"), ("id", "type", "name"))


def _ways_of_numbers(first: Sequence[Piece]) -> Found:
    numbers = [piece.get("index") for piece in first]
    if None in numbers:
        yield v.INDEX, "null" if "index" in first[numbers.index(None)] else "absent"
    elif numbers and numbers[0] == 1:
        yield v.INDEX, "from 1"
    elif len(numbers) > 1:
        yield v.INDEX, "from 0" if numbers == list(range(len(numbers))) else "always 0"


def _order(deltas: Sequence[Sequence[Piece]], calls: Sequence[Sequence[Piece]]) -> str:
    if any(len(delta) > 1 for delta in deltas):
        return "together"
    owners = [number for delta in deltas for piece in delta for number, call in enumerate(calls) if _has(call, piece)]
    return "one after the other" if owners == sorted(owners) else "interleaved"


def _has(call: Sequence[Piece], piece: Piece) -> bool:
    return any(each is piece for each in call)
