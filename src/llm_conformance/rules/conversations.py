"""Compare the conversation that was sent with the recorded one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from llm_conformance.formats.requests import turns
from llm_conformance.formats.turns import Turn
from llm_conformance.scenarios.round_trip import RoundTripRequirement


def unlike(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what a request says otherwise than the recorded one, as (expected, actual); None if nothing."""
    if round_trip.recorded is None:
        return None
    wanted, there = (_compared(round_trip, each) for each in (round_trip.recorded, request))
    for turn, other in itertools.zip_longest(wanted, there):
        if turn != other:
            return ("nothing more" if turn is None else str(turn)), ("nothing more" if other is None else str(other))
    return None


def _compared(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> list[Turn]:
    """Return the turns; where a trace may stand in the model's own texts, these are looked at elsewhere."""
    found = turns(request, round_trip.wire)
    return [each for each in found if not (round_trip.allowed and each.role == "assistant" and each.kind == "text")]
