"""The verdict of a rule on a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from llm_conformance import editions
from llm_conformance.contract.values import plain
from llm_conformance.judging.status import QUIET, Status
from llm_conformance.replay.cell import Cell
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Violation
from llm_conformance.scenarios.scenario import Scenario


@dataclass(frozen=True)
class Verdict:
    """A verdict, as the report lists it.

    Attributes:
        message: One line; None for a pass.
        cause: A text that failures with the same cause share; None if nothing fails.
        grounds: The strongest evidence that the provider sends such bytes; for a generated scenario, `probe` or None.
        example: The counterexample of a search: the answer, its cuts, the expected values, and what came back.
        traceback: The traceback of the exception that is the failure, shortened.
        command: The command that judges a failing cell again.
        think_profile: Where the model puts its reasoning between tags in the text; None if nowhere.
        deviation: The position of the known deviation that names the cell.
        further_deviations: The positions of further known deviations that name the cell, or another failure of a
            search.
        missed: The place of an expected value that the library's own object has and the response lacks.
        other_failures: The further failures of a search: for each cause, the one with the smallest example. Each has
            the fields `message`, `cause`, `example`, `command`, `traceback` and `think_profile`, as above.
    """

    adapter: str
    rule: str
    scenario: str
    provider: str
    api: str
    mode: str
    method: str
    status: str
    message: str | None
    provenance: str
    grounds: str | None = None
    example: Mapping[str, Any] | None = None
    cause: str | None = None
    traceback: str | None = None
    command: str | None = None
    think_profile: str | None = None
    deviation: int | None = None
    further_deviations: Sequence[int] = ()
    other_failures: Sequence[Mapping[str, Any]] = ()
    missed: str | None = None

    @property
    def headline(self) -> str:
        """The rule and the message, in one line."""
        return f"{self.rule}: {self.message}"

    @property
    def failure(self) -> Mapping[str, Any]:
        """The fields of the failure that `judging.causes` reads; those in `other_failures` have them, too."""
        return {"message": self.message, "cause": self.cause, "traceback": self.traceback}

    @property
    def deviations(self) -> tuple[int, ...]:
        """The positions of all known deviations that name the cell."""
        return () if self.deviation is None else (self.deviation, *self.further_deviations)

    @property
    def alike(self) -> tuple[str | None, ...] | None:
        """The fields that the verdicts of several rules share; None if the verdict says more than its status."""
        is_quiet = self.status in QUIET and _details(self) == _NO_DETAILS
        return _shared(self) if is_quiet else None

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as a result of the JSON report."""
        absent = {key for key in _OPTIONAL if getattr(self, key) in (None, ())}
        return {key: plain(value) for key, value in vars(self).items() if key not in absent}


def held_to(edition: str, verdict: Verdict, *since: str) -> Verdict:
    """Return the verdict as a run that is pinned to `edition` counts it.

    A failure becomes `new` if the rule or the scenario is newer than `edition`. `since` are the editions of rule and
    scenario.
    """
    if verdict.status == Status.FAIL and editions.any_is_newer(since, edition):
        return replace(verdict, status=Status.NEW.value)
    return verdict


ALIKE = (
    *("adapter", "scenario", "provider", "api", "mode", "method", "status", "message", "provenance", "grounds"),
    "think_profile",
)
"""The fields of `Verdict.alike`, in this order."""
_DETAILS = (
    *("example", "cause", "traceback", "command"),
    *("deviation", "further_deviations", "other_failures", "missed"),
)
_shared, _details = attrgetter(*ALIKE), attrgetter(*_DETAILS)  # called for each verdict
_NO_DETAILS = _details(Verdict)  # the defaults
_OPTIONAL = frozenset({*_DETAILS, "think_profile"})
_NO_PROFILE = "off"


def shown_profile(scenario: Scenario) -> str | None:
    """Return the think profile of a scenario; None for `off`, which almost all have."""
    return None if scenario.think_profile == _NO_PROFILE else scenario.think_profile


def verdict(
    cell: Cell,
    rule: Rule,
    status: Status,
    message: str | None = None,
    example: Mapping[str, Any] | None = None,
    violation: Violation | None = None,
    command: str | None = None,
) -> Verdict:
    """Return the verdict of a rule on a cell."""
    scenario = cell.scenario
    return Verdict(
        adapter=cell.adapter.label,
        rule=rule.id,
        scenario=scenario.id,
        provider=scenario.api.provider,
        api=scenario.api.name,
        mode=cell.mode,
        method=cell.method,
        status=status.value,
        message=message,
        provenance=scenario.provenance,
        grounds=scenario.grounds,
        example=example,
        cause=None if violation is None else violation.cause,
        traceback=None if violation is None else violation.traceback,
        command=command,
        think_profile=shown_profile(scenario),
    )
