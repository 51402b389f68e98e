"""The statuses of a cell."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The status of a cell.

    `pass`: the only good one. `fail`: the adapter breaks the rule. `vacuous`: the rule has nothing to judge in the
    scenario. `unsupported`: the adapter does not declare the capability. `blocked`: the call failed, so the rule had
    nothing to look at; another cell of the same exchange fails and says why. `expected`: a failure that a known
    deviation names. `stale`: a known deviation names the cell, but none of its cells fails. `new`: the rule or the
    scenario is newer than the edition that the run is pinned to. `error`: a fault of the suite.
    `probe-passed`, `probe-failed`: the result of a probe, which no provider is known to send. Neither counts.
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
