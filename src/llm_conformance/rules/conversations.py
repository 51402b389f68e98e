"""Compare the conversation in a request with the recorded one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from llm_conformance.formats.requests import turns, with_references
from llm_conformance.formats.turns import Turn
from llm_conformance.scenarios.round_trip import RoundTripRequirement


def different_turn(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return (expected, actual) for the first turn that differs from the recorded request; None if all are equal."""
    if round_trip.recorded is None:
        return None
    expected, actual = (_compared_turns(round_trip, each) for each in (round_trip.recorded, request))
    for expected_turn, actual_turn in itertools.zip_longest(expected, actual):
        if expected_turn != actual_turn:
            return _described(expected_turn), _described(actual_turn)
    return None


def with_referenced_items(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a copy of a request in which the recorded items replace the references to them."""
    return with_references(request, round_trip.recorded, round_trip.wire) if round_trip.recorded else request


def _described(turn: Turn | None) -> str:
    return "nothing more" if turn is None else str(turn)


def _compared_turns(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> list[Turn]:
    """Return the turns of a request, without the model's texts if the provider allows reasoning in them."""
    return [
        turn
        for turn in turns(request, round_trip.wire)
        if not (round_trip.allowed and turn.role == "assistant" and turn.kind == "text")
    ]
