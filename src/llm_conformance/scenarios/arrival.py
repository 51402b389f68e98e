"""Replay a stream as it arrived when it was recorded: in the same pieces, with the pauses between them."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

from llm_conformance.scenarios.scenario import Scenario, recut

LONGEST_S = 2.0
"""Seconds that such a replay takes at most; a slower stream is sped up."""


def as_it_arrived(scenario: Scenario) -> Scenario:
    """Return the scenario with the pieces and the pauses of its recording; unchanged if they are unknown."""
    if not scenario.arrival:
        return scenario
    ends = list(accumulate(size for size, _ in scenario.arrival))
    times = [milliseconds / 1000 for _, milliseconds in scenario.arrival]
    duration = times[-1] - times[0]
    factor = min(1.0, LONGEST_S / duration) if duration > 0 else 1.0
    pauses = (0.0, *((after - before) * factor for before, after in pairwise(times)))
    return replace(recut(scenario, ends[:-1]), pauses_s=pauses)
