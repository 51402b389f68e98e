"""Stop calling a method for an API if all of its first calls failed with the same cause (*died alike*)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.replay.cell import Callee
from llm_conformance.rules.outcome import Outcome

REPORTS_FAULTS = "SHP-1"
"""The rule that fails if a call gives no answer although one is expected."""

ALIKE = 10
"""If this many calls die alike and none works, the suite no longer calls the method for the API."""
ALIKE_ELSEWHERE = 3
"""The same number, if the same cause has already stopped the method for another API."""


@dataclass
class _Calls:
    """The calls of one callee: an adapter's method for an API. `differ` is True if they did not all die alike."""

    died: int = 0
    cause: str = ""
    differ: bool = False


@dataclass
class Stops:
    """The calls that died, and the callees that the suite no longer calls. Each process of a run notes its own.

    Attributes:
        is_active: Whether calls may be left out. False while a file of known deviations is written, because that file
            has to name all failures.
    """

    is_active: bool = True
    _calls: dict[Callee, _Calls] = field(default_factory=dict)
    _stopped: dict[Callee, str] = field(default_factory=dict)
    _asked: set[tuple[Callee, str]] = field(default_factory=set)

    def cause(self, callee: Callee, scenario: str = "") -> str | None:
        """Return why a callee is no longer called; None if it still is, or if the call for this scenario was made."""
        return None if (callee, scenario) in self._asked else self._stopped.get(callee)

    def note_asked(self, callee: Callee, scenario: str) -> None:
        """Note that the call for a scenario was made, so that all rules judge it."""
        self._asked.add((callee, scenario))

    def note(self, callee: Callee, status: str, outcome: Outcome) -> None:
        """Note the outcome of a call; `status` is the status of its verdict by the rule `REPORTS_FAULTS`.

        A failure that a known deviation names counts neither as a call that died nor as one that worked.
        """
        calls = self._calls.setdefault(callee, _Calls())
        if outcome.fault is None:
            calls.differ = True
        elif status == Status.FAIL:
            calls.differ = calls.differ or outcome.cause != (calls.cause or outcome.cause)
            calls.died, calls.cause = calls.died + 1, outcome.cause or outcome.fault
            if self.is_active and not calls.differ and calls.died >= self._enough(callee, calls.cause):
                self._stopped[callee] = calls.cause

    def _enough(self, callee: Callee, cause: str) -> int:
        adapter, _, method = callee
        elsewhere = (
            (label, name) == (adapter, method) and why == cause for (label, _, name), why in self._stopped.items()
        )
        return ALIKE_ELSEWHERE if any(elsewhere) else ALIKE


def reason(callee: Callee, cause: str) -> str:
    """Return the message of a cell that is blocked because its callee is no longer called."""
    _, api, method = callee
    return f"not asked: every call of {method} for {api} before this one died alike: {cause}"


def without_any_answer(verdicts: Iterable[Verdict]) -> Mapping[str, str]:
    """Map the label of each adapter whose calls all died alike to the cause."""
    causes: dict[str, Counter[str]] = {}
    answered = set()
    for each in verdicts:
        if each.rule != REPORTS_FAULTS or each.status not in (Status.PASS, Status.FAIL, Status.EXPECTED):
            continue
        if each.status == Status.FAIL:
            causes.setdefault(each.adapter, Counter())[each.cause or ""] += 1
        else:
            answered.add(each.adapter)
    return {
        adapter: next(iter(found))
        for adapter, found in causes.items()
        if adapter not in answered and len(found) == 1 and found.total() >= ALIKE
    }
