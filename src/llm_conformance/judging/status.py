"""The statuses of a cell."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Status(StrEnum):
    """The status of a cell.

    `pass`: the adapter keeps the rule. `fail`: the adapter breaks the rule. `vacuous`: the rule has nothing to judge in
    the scenario. `unsupported`: the adapter does not declare the capability, or cannot make the call. `blocked`: the
    rule cannot judge, because the call failed or another part of the response is wrong; another cell fails and says
    why. `expected`: a failure that a known deviation names. `stale`: a known deviation names the cell, but none of its
    cells fails. `new`: the rule or the scenario is newer than the edition that the run is pinned to. `error`: a fault
    of the suite. `probe-passed`, `probe-failed`: the result of a probe, an input that no provider is known to send.
    Neither counts.
    """

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    VACUOUS = "vacuous"
    UNSUPPORTED = "unsupported"
    BLOCKED = "blocked"
    EXPECTED = "expected"
    STALE = "stale"
    NEW = "new"
    ERROR = "error"
    PROBE_PASSED = "probe-passed"
    PROBE_FAILED = "probe-failed"


PROBES = (Status.PROBE_PASSED, Status.PROBE_FAILED)


QUIET = (Status.PASS, Status.PROBE_PASSED, Status.VACUOUS, Status.UNSUPPORTED)
"""Statuses of cells in which nothing is wrong. Nobody has to look at these cells or reproduce them."""


def of_probe(status: Status) -> Status:
    """Return the status of a probe whose cell would have `status`. Known deviations do not apply to probes."""
    if status == Status.PASS:
        return Status.PROBE_PASSED
    return Status.PROBE_FAILED if status in (Status.FAIL, Status.EXPECTED) else status


_REASONS_TO_BLOCK = (Status.EXPECTED, Status.NEW, Status.PROBE_FAILED)


def exit_code(counts: Mapping[str, int]) -> int:
    """Return the exit code of a run; `counts` maps each status to its number of cells.

    3: the suite has a fault. 1: a cell fails, a deviation is stale, or cells are blocked and no failure of the run says
    why. 5: nothing was judged. 0: everything else. A failure that is `new` does not count.
    """

    def count(*statuses: Status) -> int:
        return sum(counts.get(each, 0) for each in statuses)

    if count(Status.ERROR):
        return 3
    if count(Status.FAIL, Status.STALE) or (count(Status.BLOCKED) and not count(*_REASONS_TO_BLOCK)):
        return 1
    return 0 if count(Status.PASS, Status.EXPECTED, Status.NEW) else 5
