"""Matching the annotations that came back with those that had to, and explaining a wrong span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract import Annotation
from llm_conformance.scenarios.expected import ExpectedAnnotation


@dataclass(frozen=True)
class Pair:
    """An expected annotation and the one that came back for it, None if none did; `place` says which it is."""

    expected: ExpectedAnnotation
    actual: Annotation | None
    place: str


def pair(expected: Sequence[ExpectedAnnotation], actual: Sequence[Annotation]) -> list[Pair]:
    """Match each expected annotation with the most similar one that came back; order does not count.

    Two citations may differ in nothing but their place, or share their place and differ in their data. The best fits
    are taken first, so that one fault of one annotation does not look like a fault of another.
    """
    fits = sorted(
        (-_likeness(wanted, given), left, right)
        for left, wanted in enumerate(expected)
        for right, given in enumerate(actual)
    )
    chosen: dict[int, int] = {}
    for fit, left, right in fits:
        if fit < 0 and left not in chosen and right not in chosen.values():
            chosen[left] = right
    return [
        Pair(wanted, actual[chosen[number]] if number in chosen else None, f"annotation {number}")
        for number, wanted in enumerate(expected)
    ]


def _likeness(wanted: ExpectedAnnotation, given: Annotation) -> float:
    """Return 0 for nothing in common; data counts more than the span."""
    same = sum(keeps(given.data.get(key), value) for key, value in wanted.data.items())
    kept = same / len(wanted.data) if wanted.data else 1.0
    return 2 * kept + (given.start == wanted.start) + (given.end == wanted.end)


def keeps(given: Any, wanted: Any) -> bool:
    """Whether a value still says what it has to; objects within it may say more."""
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(keeps(given.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(given, list) and len(given) == len(wanted):
        return all(map(keeps, given, wanted))
    return bool(given == wanted) and isinstance(given, bool) == isinstance(wanted, bool)


def other_unit(message: str, expected: ExpectedAnnotation, actual: Annotation) -> str:
    """Return in which unit the span that came back would be right, "" if in none that is known."""
    start, end = expected.start, expected.end
    span = (actual.start, actual.end)
    if start is None or end is None or span == (start, end):
        return ""
    # JSON may hold half a surrogate pair, which only surrogatepass encodes.
    utf16 = [len(message[:offset].encode("utf-16-le", "surrogatepass")) // 2 for offset in (start, end)]
    utf8 = [len(message[:offset].encode("utf-8", "surrogatepass")) for offset in (start, end)]
    document = (expected.data.get("start_char_index"), expected.data.get("end_char_index"))
    guesses = {
        "these are UTF-16 code units": tuple(utf16),
        "these are UTF-8 bytes": tuple(utf8),
        "these are offsets into the cited document": document,
        "the end is the last code point, not one behind it": (start, end - 1),
        "these are counted from the beginning of the block": (0, end - start),
    }
    return next((guess for guess, meant in guesses.items() if span == meant), "")
