"""Judge many examples by all rules, and keep the smallest counterexample for each cause."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llm_conformance.judging.judge import Judgement, judge, judge_exchange
from llm_conformance.judging.shown.counterexamples import Counterexample
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.segments import REPEATS_OTHERS
from llm_conformance.rules.violation import Violation

_WORST_FIRST = (Status.FAIL, Status.PASS, Status.BLOCKED, Status.UNSUPPORTED)

Known = Callable[[Rule, Violation], Sequence[int] | None]
"""Returns the positions of the known deviations that name a failure; None if it is not known.

An empty sequence means that the failure is known without a deviation: the rule or the scenario is newer than the
edition of the run.
"""

Failure = tuple[Rule, str]
"""(failing rule, cause)"""


@dataclass
class RuleResult:
    """The result of one rule over all examples.

    Attributes:
        statuses: Maps each status to the message of the last example that had it.
        counterexamples: For each cause, the smallest counterexample and the positions of the known deviations that name
            it (None if it is not known).
    """

    statuses: dict[Status, str | None] = field(default_factory=dict)
    counterexamples: dict[tuple[str, tuple[int, ...] | None], Counterexample] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        """`fail` if any example fails, else `pass` if any passes, else `blocked`, `unsupported` or `vacuous`.

        If known deviations name all failures, it is `expected` instead of `fail`.
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
        return next(iter(self.new), None)

    @property
    def shown(self) -> Counterexample | None:
        """The smallest counterexample that no known deviation names, or else the smallest of all."""
        return self.counterexample or min(self.counterexamples.values(), key=lambda each: each.size, default=None)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the verdict that tell which known deviations name the failures."""
        known = self._deviations
        is_new = self.counterexample is not None
        return {
            "deviation": None if is_new else next(iter(known), None),
            "further_deviations": tuple(known if is_new else known[1:]),
        }

    @property
    def _deviations(self) -> list[int]:
        return sorted({at for _, named in self.counterexamples for at in named or ()})

    @property
    def new(self) -> list[Counterexample]:
        """The smallest counterexample of each cause that no known deviation names, the smallest of all first."""
        new = (found for (_, named), found in self.counterexamples.items() if named is None)
        return sorted(new, key=lambda each: each.size)


class ExampleJudge:
    """Judges examples by a set of rules, and keeps the result of each rule in `results`.

    Failures that are known (`known`) are recorded, but do not make an example wrong.
    """

    def __init__(self, runner: Runner, rules: Iterable[Rule], known: Known = lambda _rule, _violation: None) -> None:
        self._runner = runner
        self._known = known
        self.hung = False
        """Whether a call hung. Nothing more is judged then: no other example is worth the wait."""
        self.excluded: Counter[str] = Counter()
        """Maps each way of a variation that the adapter excludes to the number of examples that were not judged."""
        self.results = {rule: RuleResult() for rule in rules}
        self.new: dict[Failure, Counterexample] = {}
        """The failures that are not known, each with its smallest counterexample."""

    def is_wrong(self, cell: Cell) -> bool:
        """Judge an example by all rules; return True if it has a failure that is not known."""
        return bool(self.judge(cell))

    def judge(self, cell: Cell) -> list[Failure]:
        """Judge an example by all rules; return its failures that are not known."""
        judgements = list(self._judgements(cell, self.results))
        for rule, judgement in judgements:
            self.results[rule].statuses[judgement.status] = judgement.message
        return [(rule, found.violation.cause) for rule, found in _broken(cell, judgements) if self._keep(rule, found)]

    def judge_again(self, cell: Cell) -> list[Failure]:
        """Judge a smaller example of a failure that is not known. Return its failures that were found before.

        The example can only replace the counterexample of such a failure. Its other failures are ignored, so that the
        result does not depend on which smaller examples were tried.
        """
        judgements = list(self._judgements(cell, dict.fromkeys(rule for rule, _ in self.new)))
        return [
            (rule, found.violation.cause)
            for rule, found in _broken(cell, judgements)
            if (rule, found.violation.cause) in self.new and self._keep(rule, found)
        ]

    def _judgements(self, cell: Cell, rules: Iterable[Rule]) -> Iterator[tuple[Rule, Judgement]]:
        if self.hung:
            return
        run = functools.cache(lambda: self._runner.run(cell))
        for rule in rules:
            judgement = judge(cell, rule, run)
            self.hung = self.hung or (judgement.exchange is not None and judgement.exchange.outcome.hung)
            yield rule, judgement

    def _keep(self, rule: Rule, found: Counterexample) -> bool:
        """Keep a counterexample if it is the smallest of its cause; return True if the failure is not known.

        Segments repeat other fields. For the rule about segments, an example in which nothing else is wrong is
        preferred to a smaller one.
        """
        kept, key = self.results[rule].counterexamples, self._key(rule, found.violation)

        def order(each: Counterexample) -> tuple[bool, tuple[int, int]]:
            return rule.id == REPEATS_OTHERS and bool(each.beside), each.size

        if key not in kept or order(found) <= order(kept[key]):
            kept[key] = found
            if key[1] is None:
                self.new[rule, key[0]] = found
        return key[1] is None

    def _key(self, rule: Rule, violation: Violation) -> tuple[str, tuple[int, ...] | None]:
        named = self._known(rule, violation)
        return violation.cause, None if named is None else tuple(named)

    def prefer_whole_streams(self) -> None:
        """Replace a counterexample by its uncut stream, if that breaks the same rule for the same cause."""
        for rule, result in self.results.items():
            for key, found in result.counterexamples.items():
                whole = found.cell.scenario.uncut
                if whole is None or found.exchange.outcome.hung:
                    continue
                cell = replace(found.cell, scenario=whole)
                exchange = self._runner.exchange(cell)
                violation = judge_exchange(rule, exchange).violation
                if violation is not None and self._key(rule, violation) == key:
                    result.counterexamples[key] = Counterexample(cell, exchange, violation, found.beside)


def _broken(cell: Cell, judgements: Iterable[tuple[Rule, Judgement]]) -> list[tuple[Rule, Counterexample]]:
    """Return (rule, counterexample) for each rule that an example breaks."""
    broken = {
        rule: (judgement.exchange, judgement.violation)
        for rule, judgement in judgements
        if judgement.exchange is not None and judgement.violation is not None
    }
    causes = {rule: (rule.id, violation.cause) for rule, (_, violation) in broken.items()}
    return [
        (rule, Counterexample(cell, *facts, beside=tuple(causes[other] for other in causes if other is not rule)))
        for rule, facts in broken.items()
    ]
