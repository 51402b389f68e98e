"""What a search has found: for each rule, how it ended, and the smallest example that breaks it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from llm_conformance import secrets
from llm_conformance.judging import evidence
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.judge import judge, known_without_running
from llm_conformance.judging.narrative import narrative
from llm_conformance.judging.search import search
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict, verdict
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Violation
from llm_conformance.scenarios.save import keep
from llm_conformance.themes.cuts import recuts

CUTS = 0.2
"""How many ways to cut each recorded stream is tried, as a part of the usual number of examples: there are many."""

_WORST_FIRST = (Status.FAIL, Status.PASS, Status.UNSUPPORTED)


@dataclass(frozen=True)
class Counterexample:
    """An exchange that breaks a rule."""

    cell: Cell
    exchange: Exchange
    violation: Violation

    @property
    def size(self) -> tuple[int, int]:
        """What makes one example smaller than another: its bytes, then its cuts."""
        scenario = self.cell.scenario
        return len(scenario.interactions[self.cell.mode].body), len(scenario.cuts or ())


@dataclass
class Finding:
    """What came of one rule in all examples."""

    statuses: dict[Status, str | None] = field(default_factory=dict)
    counterexample: Counterexample | None = None

    @property
    def status(self) -> Status:
        """The rule's status: a failure counts more than any success, and a success more than nothing to look at."""
        return next((each for each in _WORST_FIRST if each in self.statuses), Status.VACUOUS)

    @property
    def message(self) -> str | None:
        """What is said of that status: None for a pass."""
        return self.statuses.get(self.status, "no example has anything for this rule")


class Findings:
    """Judges examples by a set of rules, and remembers what it found.

    The rules that are `known` to fail are judged too, but what they find is nothing to stop at.
    """

    def __init__(self, runner: Runner, rules: Iterable[Rule], known: Collection[Rule] = ()) -> None:
        self._runner = runner
        self.options = runner.options
        self.by_rule = {rule: Finding() for rule in rules}
        self._known = set(known)
        self._hung = False

    def breaks_a_rule(self, cell: Cell) -> bool:
        """Judge an example by all rules: is one broken that is not known to be?

        Nothing more is judged once a call hung: a smaller example is not worth the wait.
        """
        if self._hung:
            return False
        exchange = None
        wrong = False
        for rule, finding in self.by_rule.items():
            known = known_without_running(cell, rule)
            if known is not None:
                finding.statuses[Status(known.status)] = known.message
                continue
            exchange = exchange or self._runner.run(cell)
            self._hung = exchange.outcome.hung
            status, message, violation = judge(rule, exchange)
            finding.statuses[status] = message
            if violation is not None:
                wrong = wrong or rule not in self._known
                counterexample = Counterexample(cell, exchange, violation)
                if finding.counterexample is None or counterexample.size <= finding.counterexample.size:
                    finding.counterexample = counterexample
        return wrong

    def go_on(self) -> bool:
        """Take all rules as known if one was found broken, so that a search does not stop; return whether to search on.

        The first search has made one example small. The next has every rule judge all examples, so that what is said of
        a rule does not depend on what else is broken.
        """
        was_stopped = any(self.by_rule[rule].counterexample for rule in self.by_rule.keys() - self._known)
        self._known = set(self.by_rule)
        return was_stopped and not self._hung

    def uncut(self) -> None:
        """Put the stream as a whole in the place of each example that is wrong without its cuts, too."""
        for rule, finding in self.by_rule.items():
            counterexample = finding.counterexample
            whole = counterexample.cell.scenario.uncut if counterexample else None
            if counterexample is None or whole is None or counterexample.exchange.outcome.hung:
                continue
            cell = replace(counterexample.cell, scenario=whole)
            exchange = self._runner.exchange(cell)
            _, _, violation = judge(rule, exchange)
            if violation is not None:
                finding.counterexample = Counterexample(cell, exchange, violation)


def judged(cell: Cell, rule: Rule, runner: Runner, effort: Effort) -> tuple[Verdict, str | None]:
    """Judge a recorded exchange by a rule: once, or as often as the rule wants. Return also what is wrong, in words."""
    if not rule.vary_cuts:
        exchange = runner.exchange(cell)
        status, message, violation = judge(rule, exchange)
        if violation is None:
            return verdict(cell, rule, status, message), None
        # A generated example that was kept is shown as it was when it was found.
        seen = example(Counterexample(cell, exchange, violation)) if cell.scenario.provenance == "generated" else None
        return verdict(cell, rule, status, message), narrative(cell, rule, violation, runner.options, seen)
    known = uncut(cell, rule, effort)
    if known is not None:
        return known, None
    if not runner.hands_over_pieces(cell.method):
        return verdict(cell, rule, Status.VACUOUS, "the transport hands the stream over in one piece"), None
    finding = _over_cuts(cell, rule, runner, effort)
    counterexample = finding.counterexample
    if counterexample is None:
        return verdict(cell, rule, finding.status, finding.message), None
    shown = {"cuts": list(counterexample.cell.scenario.cuts or ()), "returned": example(counterexample)["returned"]}
    said = verdict(cell, rule, Status.FAIL, str(counterexample.violation), shown)
    return said, narrative(cell, rule, counterexample.violation, runner.options, shown)


def uncut(cell: Cell, rule: Rule, effort: Effort) -> Verdict | None:
    """Return the verdict of a rule that wants a stream cut in many ways, where no way is tried; else None."""
    if not rule.vary_cuts or effort.examples:
        return None
    return verdict(cell, rule, Status.VACUOUS, "no other way to cut the stream was tried: 0 examples")


def _over_cuts(cell: Cell, rule: Rule, runner: Runner, effort: Effort) -> Finding:
    findings = Findings(runner, [rule])
    search(
        f"{rule.id} {cell}",
        recuts(cell.scenario),
        lambda drawn: findings.breaks_a_rule(replace(cell, scenario=drawn)),
        effort.times(CUTS),
    )
    return findings.by_rule[rule]


def kept(counterexample: Counterexample, directory: Path | None) -> Cell:
    """Return the witness' cell, its scenario written down if it was generated and there is a place to keep it."""
    scenario = counterexample.cell.scenario
    if directory is None or scenario.provenance != "generated":
        return counterexample.cell
    try:
        return replace(counterexample.cell, scenario=keep(scenario, directory))
    except OSError:  # the failure counts for more than the place; what is shown says that nothing was kept
        return counterexample.cell


def example(counterexample: Counterexample) -> Mapping[str, Any]:
    """Return the example as a report carries it: what was sent, where it was cut, the truth, and what came back."""
    outcome = counterexample.exchange.outcome
    returned = None if outcome.response is None else evidence.clean(outcome.response.data)
    return {
        **evidence.told(counterexample.cell.scenario, counterexample.exchange.mode),
        "returned": returned if outcome.raised is None else secrets.hide(str(outcome.raised)),
    }


def narratives(wrong: Mapping[Rule, Counterexample], directory: Path | None, options: Iterable[str]) -> Iterator[str]:
    """Yield the failures as an adapter author reads them.

    Rules that an example breaks in one way are told of together, and an example is shown once.
    """
    alike: dict[tuple[str, str], list[Rule]] = {}
    shown = set()
    for rule, counterexample in wrong.items():
        alike.setdefault((repr(counterexample.cell.scenario.interactions), str(counterexample.violation)), []).append(
            rule
        )
    for (scenario, _), (rule, *others) in alike.items():
        counterexample = wrong[rule]
        seen = None if scenario in shown else example(counterexample)
        yield narrative(kept(counterexample, directory), rule, counterexample.violation, options, seen, others)
        shown.add(scenario)
