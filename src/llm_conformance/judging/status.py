"""The statuses of a cell."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The seven statuses a cell can have; a cell has exactly one.

    Only `pass` is green. `vacuous`: the scenario gave this invariant nothing to look at. `unsupported`: a capability is
    not declared. `expected`: a known deviation that still fails. `stale`: a known deviation none of whose cells fails
    any more. `error`: the harness's own fault, never the adapter's.
    """

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    VACUOUS = "vacuous"
    UNSUPPORTED = "unsupported"
    EXPECTED = "expected"
    STALE = "stale"
    ERROR = "error"
