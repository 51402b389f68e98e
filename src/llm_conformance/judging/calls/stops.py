"""Which calls are not made any more: those of a method for an API, if every call before them died alike.

An adapter that cannot call its library dies in every call for the same reason. Ten such calls say so; a thousand more
say nothing else.
"""

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
"""After how many calls that died alike, and none that worked, a method is no longer called for an API."""
ALIKE_ELSEWHERE = 3
"""The same, if the method is no longer called for another API for the same cause."""


@dataclass
class _Calls:
    """The calls of one callee: how many died, for which cause, and whether they are all alike."""

    died: int = 0
    cause: str = ""
    differ: bool = False


@dataclass
class Stops:
    """Which calls died, in one process, and which are therefore not made any more.

    Attributes:
        is_active: Whether calls are left out; a file of known deviations has to name all failures.
    """

    is_active: bool = True
    _calls: dict[Callee, _Calls] = field(default_factory=dict)
    _stopped: dict[Callee, str] = field(default_factory=dict)
    _asked: set[tuple[Callee, str]] = field(default_factory=set)

    def cause(self, callee: Callee, scenario: str = "") -> str | None:
        """Return the cause for which calls are not made any more; None if they are, or this scenario's was made."""
        return None if (callee, scenario) in self._asked else self._stopped.get(callee)

    def note_asked(self, callee: Callee, scenario: str) -> None:
        """Note that a call was made: all rules judge it."""
        self._asked.add((callee, scenario))

    def note(self, callee: Callee, status: str, outcome: Outcome) -> None:
        """Note the outcome of a call, and what the rule that reports faults says of it.

        Failures that a known deviation names count as neither died nor worked.
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
    """Return why a cell is blocked."""
    _, api, method = callee
    return f"not asked: every call of {method} for {api} before this one died alike: {cause}"


def without_any_answer(verdicts: Iterable[Verdict]) -> Mapping[str, str]:
    """Return the adapters of which every call died alike, each with the cause."""
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
