"""The judge of a search: many examples, judged by all rules, and the smallest counterexample for each cause."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llm_conformance.judging.counterexamples import Counterexample
from llm_conformance.judging.judge import judge, judge_exchange
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Violation

_WORST_FIRST = (Status.FAIL, Status.PASS, Status.BLOCKED, Status.UNSUPPORTED)

Known = Callable[[Rule, Violation], Sequence[int] | None]
"""Returns the positions of the known deviations that name a failure, None if it is not known.

It may be known without a deviation: failures of what is newer than the edition of a run do not count.
"""


@dataclass
class RuleResult:
    """The result of one rule over all examples.

    Attributes:
        statuses: Each status that an example had, with its last message.
        counterexamples: The smallest one for each cause and the positions of the known deviations that name it; None
            instead of the positions if it is not known.
    """

    statuses: dict[Status, str | None] = field(default_factory=dict)
    counterexamples: dict[tuple[str, tuple[int, ...] | None], Counterexample] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        """`fail` if any example fails, else `pass` if any passes, else `blocked`, `unsupported` or `vacuous`.

        It is `expected` instead of `fail` if known deviations name all failures.
        """
        if self._deviations and self.counterexample is None:
            return Status.EXPECTED
        return next((each for each in _WORST_FIRST if each in self.statuses), Status.VACUOUS)

    @property
    def message(self) -> str | None:
        """The message for the status; None for a pass."""
        return self.statuses.get(self.status, "no example has anything for this rule")

    @property
    def counterexample(self) -> Counterexample | None:
        """The smallest counterexample that no known deviation names."""
        return next(iter(self._new), None)

    @property
    def shown(self) -> Counterexample | None:
        """The smallest counterexample; one that a known deviation names if they name all."""
        return self.counterexample or min(self.counterexamples.values(), key=lambda each: each.size, default=None)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the verdict that tell which known deviations name the failures, and what else fails."""
        known = self._deviations
        others = [{"message": str(each.violation), "cause": each.violation.cause} for each in self._new[1:]]
        is_new = self.counterexample is not None
        return {
            "deviation": None if is_new else next(iter(known), None),
            "further_deviations": tuple(known if is_new else known[1:]),
            "other_failures": tuple(others),
        }

    @property
    def _deviations(self) -> list[int]:
        return sorted({at for _, named in self.counterexamples for at in named or ()})

    @property
    def _new(self) -> list[Counterexample]:
        new = (found for (_, named), found in self.counterexamples.items() if named is None)
        return sorted(new, key=lambda each: each.size)


class ExampleJudge:
    """Judges examples by a set of rules, and keeps the result of each rule in `results`.

    Failures that `known` knows are recorded, but do not make an example wrong.
    """

    def __init__(self, runner: Runner, rules: Iterable[Rule], known: Known = lambda _rule, _violation: None) -> None:
        self._runner = runner
        self._known = known
        self._collects = False
        self._stopped = False
        self._hung = False
        self.results = {rule: RuleResult() for rule in rules}

    def is_wrong(self, cell: Cell) -> bool:
        """Judge an example by all rules; return True if it breaks one in a way that is not known.

        After a call that hung nothing more is judged: a smaller example is not worth the wait.
        """
        if self._hung:
            return False
        run = functools.cache(lambda: self._runner.run(cell))
        wrong = False
        for rule, result in self.results.items():
            judgement = judge(cell, rule, run)
            result.statuses[judgement.status] = judgement.message
            if judgement.exchange is None:
                continue
            self._hung = judgement.exchange.outcome.hung
            if judgement.violation is not None:
                found = Counterexample(cell, judgement.exchange, judgement.violation)
                key = self._key(rule, judgement.violation)
                if key not in result.counterexamples or found.size <= result.counterexamples[key].size:
                    result.counterexamples[key] = found
                wrong = wrong or (key[1] is None and not self._collects)
        self._stopped = self._stopped or wrong
        return wrong

    def _key(self, rule: Rule, violation: Violation) -> tuple[str, tuple[int, ...] | None]:
        named = self._known(rule, violation)
        return violation.cause, None if named is None else tuple(named)

    def collect(self) -> None:
        """From now on, record all failures, and return False for every example."""
        self._collects = True

    def needs_another_search(self) -> bool:
        """Return True if the search stopped at an example, and make the next search judge all examples.

        The first search ends with one small example. The second one must not stop, so that the result of a rule does
        not depend on which other rules fail.
        """
        self.collect()
        return self._stopped and not self._hung

    def prefer_whole_streams(self) -> None:
        """Replace each counterexample by the same stream without its cuts, if that has the same cause."""
        for rule, result in self.results.items():
            for key, found in result.counterexamples.items():
                whole = found.cell.scenario.uncut
                if whole is None or found.exchange.outcome.hung:
                    continue
                cell = replace(found.cell, scenario=whole)
                exchange = self._runner.exchange(cell)
                violation = judge_exchange(rule, exchange).violation
                if violation is not None and self._key(rule, violation) == key:
                    result.counterexamples[key] = Counterexample(cell, exchange, violation)
