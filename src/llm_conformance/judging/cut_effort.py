"""The number of ways in which a recorded stream is cut."""

from __future__ import annotations

from llm_conformance.judging.effort import SENDING, Effort
from llm_conformance.replay.cell import Cell, a_parser_gets_the_bytes

_CUTS = 0.08
"""For each example of the effort, the search tries this many ways of cutting a recorded stream.

They are few, because all streams of an API are cut, and each in other ways.
"""

_WHILE_WAITING = Effort(1, reproducible=True)
"""The effort for a stream after which the server goes silent: each try waits for the time limit of a call."""


def ways_to_cut(cell: Cell, effort: Effort) -> Effort:
    """Return how many ways to try.

    A method that sends requests gets few or none if a parser gets the same pieces. Of a stream with a fault, it does
    not get the same.
    """
    fault = cell.scenario.fault
    if fault is not None:
        return _WHILE_WAITING if fault.kind == "silence" else effort.times(_CUTS)
    if a_parser_gets_the_bytes(cell.adapter, cell.mode, cell.method):
        return effort.times(_CUTS * SENDING, name=f"{cell.scenario.id} {cell.method}")
    return effort.times(_CUTS)
