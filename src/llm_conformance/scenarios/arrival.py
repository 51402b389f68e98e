"""A stream replayed as it arrived when it was recorded: in the same pieces, with the pauses between them."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

from llm_conformance.scenarios.scenario import Scenario, recut

LONGEST_S = 2.0
"""How long a stream that is replayed as it arrived may take; a slower one is sped up."""


def as_it_arrived(scenario: Scenario) -> Scenario:
    """Return the scenario with its stream in the pieces in which it came, and with the pauses between them."""
    if not scenario.arrival:
        return scenario
    ends = list(accumulate(size for size, _ in scenario.arrival))
    times = [milliseconds / 1000 for _, milliseconds in scenario.arrival]
    whole = times[-1] - times[0]
    faster = min(1.0, LONGEST_S / whole) if whole > 0 else 1.0
    pauses = (0.0, *((after - before) * faster for before, after in pairwise(times)))
    return replace(recut(scenario, ends[:-1]), pauses_s=pauses)
