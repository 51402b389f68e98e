"""The judge of a search: many examples, judged by all rules, and the smallest counterexample for each rule."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from llm_conformance.judging.counterexamples import Counterexample
from llm_conformance.judging.judge import judge, judge_exchange
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.rules.rule import Rule

_WORST_FIRST = (Status.FAIL, Status.PASS, Status.BLOCKED, Status.UNSUPPORTED)


@dataclass
class RuleResult:
    """The result of one rule over all examples.

    Attributes:
        statuses: Each status that an example had, with its last message.
        counterexample: The smallest one.
    """

    statuses: dict[Status, str | None] = field(default_factory=dict)
    counterexample: Counterexample | None = None

    @property
    def status(self) -> Status:
        """`fail` if any example fails, else `pass` if any passes, else `blocked`, `unsupported` or `vacuous`."""
        return next((each for each in _WORST_FIRST if each in self.statuses), Status.VACUOUS)

    @property
    def message(self) -> str | None:
        """The message for the status; None for a pass."""
        return self.statuses.get(self.status, "no example has anything for this rule")


class ExampleJudge:
    """Judges examples by a set of rules, and keeps the result of each rule in `results`.

    Rules in `known` have a known deviation: their failures are recorded, but do not make an example wrong.
    """

    def __init__(self, runner: Runner, rules: Iterable[Rule], known: Collection[Rule] = ()) -> None:
        self._runner = runner
        self._known = set(known)
        self._hung = False
        self.results = {rule: RuleResult() for rule in rules}

    def is_wrong(self, cell: Cell) -> bool:
        """Judge an example by all rules; return True if it breaks one that is not known to fail.

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
                wrong = wrong or rule not in self._known
                found = Counterexample(cell, judgement.exchange, judgement.violation)
                if result.counterexample is None or found.size <= result.counterexample.size:
                    result.counterexample = found
        return wrong

    def needs_another_search(self) -> bool:
        """Return True if the search stopped at an example, and make the next search judge all examples.

        The first search ends with one small example. The second one must not stop, so that the result of a rule does
        not depend on which other rules fail.
        """
        stopped = any(self.results[rule].counterexample for rule in self.results.keys() - self._known)
        self._known = set(self.results)
        return stopped and not self._hung

    def prefer_whole_streams(self) -> None:
        """Replace each counterexample by the same stream without its cuts, if that breaks the rule, too."""
        for rule, result in self.results.items():
            found = result.counterexample
            whole = found.cell.scenario.uncut if found else None
            if found is None or whole is None or found.exchange.outcome.hung:
                continue
            cell = replace(found.cell, scenario=whole)
            exchange = self._runner.exchange(cell)
            violation = judge_exchange(rule, exchange).violation
            if violation is not None:
                result.counterexample = Counterexample(cell, exchange, violation)
