"""The statuses of a cell."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The status of a cell.

    `pass`: the only good one. `fail`: the adapter breaks the rule. `vacuous`: the rule has nothing to judge in the
    scenario. `unsupported`: the adapter does not declare the capability. `expected`: a failure that a known deviation
    names. `stale`: a known deviation names the cell, but none of its cells fails. `error`: a fault of the suite.
    `probe-passed`, `probe-failed`: the result of a probe, which no provider is known to send. Neither counts.
    """

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    VACUOUS = "vacuous"
    UNSUPPORTED = "unsupported"
    EXPECTED = "expected"
    STALE = "stale"
    ERROR = "error"
    PROBE_PASSED = "probe-passed"
    PROBE_FAILED = "probe-failed"


PROBES = (Status.PROBE_PASSED, Status.PROBE_FAILED)
