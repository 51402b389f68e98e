"""Pair expected annotations with returned ones, and explain a wrong span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract import Annotation
from llm_conformance.scenarios.expected import ExpectedAnnotation


@dataclass(frozen=True)
class Pair:
    """An expected annotation and the returned annotation that fits best; None if none is left that fits at all.

    `place` names the pair.
    """

    expected: ExpectedAnnotation
    actual: Annotation | None
    place: str


def pair(expected: Sequence[ExpectedAnnotation], actual: Sequence[Annotation]) -> list[Pair]:
    """Pair each expected annotation with the most similar returned annotation. The order does not count.

    Two citations may differ only in their spans, or only in their data. The best fits are paired first, so that a fault
    of one annotation does not look like a fault of another.
    """
    fits = sorted(
        (-_likeness(expected_one, actual_one), left, right)
        for left, expected_one in enumerate(expected)
        for right, actual_one in enumerate(actual)
    )
    chosen: dict[int, int] = {}
    for fit, left, right in fits:
        if fit < 0 and left not in chosen and right not in chosen.values():
            chosen[left] = right
    return [
        Pair(annotation, actual[chosen[number]] if number in chosen else None, f"annotation {number}")
        for number, annotation in enumerate(expected)
    ]


def _likeness(expected: ExpectedAnnotation, actual: Annotation) -> float:
    """Return a number from 0 (nothing in common) to 4. The data counts as much as start and end together."""
    kept = [keeps(actual.data.get(key), value) for key, value in expected.data.items()]
    share = sum(kept) / len(kept) if kept else 1.0
    return 2 * share + (actual.start == expected.start) + (actual.end == expected.end)


def keeps(actual: Any, expected: Any) -> bool:
    """Return True if `actual` equals `expected`; objects in it may have extra keys."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(keeps(actual.get(key), value) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list) and len(actual) == len(expected):
        return all(map(keeps, actual, expected))
    return bool(actual == expected) and isinstance(actual, bool) == isinstance(expected, bool)


def other_unit(message: str, expected: ExpectedAnnotation, actual: Annotation) -> str:
    """Return a hint that names the unit in which the returned span would be right; "" if there is no such unit."""
    start, end = expected.start, expected.end
    span = (actual.start, actual.end)
    if start is None or end is None or span == (start, end):
        return ""
    # A JSON text may contain half of a surrogate pair. Only surrogatepass encodes that.
    utf16 = [len(message[:offset].encode("utf-16-le", "surrogatepass")) // 2 for offset in (start, end)]
    utf8 = [len(message[:offset].encode("utf-8", "surrogatepass")) for offset in (start, end)]
    document = (expected.data.get("start_char_index"), expected.data.get("end_char_index"))
    guesses = {
        "these are UTF-16 code units": tuple(utf16),
        "these are UTF-8 bytes": tuple(utf8),
        "these are offsets into the cited document": document,
        "the end is the last code point, not the one after it": (start, end - 1),
        "these are counted from the beginning of the block": (0, end - start),
    }
    return next((guess for guess, meant in guesses.items() if span == meant), "")
