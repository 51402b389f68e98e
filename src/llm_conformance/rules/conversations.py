"""Compare the conversation in a request with the recorded one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from llm_conformance.compare import first_difference, in_one_line, show
from llm_conformance.formats.requests import turns, with_references
from llm_conformance.formats.turns import Turn
from llm_conformance.rules.violation import around
from llm_conformance.scenarios.round_trip import RoundTripRequirement, first_mismatch


def different_turn(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return (expected, actual, hint) for the first turn that differs from the recorded request; None if none does."""
    if round_trip.recorded is None:
        return None
    expected, actual = (_compared_turns(round_trip, each) for each in (round_trip.recorded, request))
    for expected_turn, actual_turn in itertools.zip_longest(expected, actual):
        if expected_turn != actual_turn:
            hint = where_they_differ(*(turn and turn.content for turn in (expected_turn, actual_turn)))
            return _described(expected_turn), _described(actual_turn), hint
    return None


def with_referenced_items(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a copy of a request in which the recorded items replace the references to them."""
    return with_references(request, round_trip.recorded, round_trip.wire) if round_trip.recorded else request


def where_they_differ(expected: Any, actual: Any) -> str:
    """Return where two texts or two lists of a request first differ; "" if `show` shows all of both."""
    if show(expected) == in_one_line(expected) and show(actual) == in_one_line(actual):
        return ""
    if isinstance(expected, str) and isinstance(actual, str):
        at = first_difference(expected, actual)
        return f"they differ at code point {at}: {around(expected, at)} and {around(actual, at)}"
    if isinstance(expected, list) and isinstance(actual, list):
        pairs = enumerate(itertools.zip_longest(expected, actual))
        found = next(((at, pair) for at, pair in pairs if first_mismatch(pair[1], pair[0])), None)
        return "" if found is None else f"they differ at item {found[0]}: {' and '.join(map(show, found[1]))}"
    return ""


def _described(turn: Turn | None) -> str:
    return "nothing more" if turn is None else str(turn)


def _compared_turns(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> list[Turn]:
    """Return the turns of a request, without the model's texts if the provider allows reasoning in them."""
    return [
        turn
        for turn in turns(request, round_trip.wire)
        if not (round_trip.allowed and turn.role == "assistant" and turn.kind == "text")
    ]
