"""Judge the cells of recorded scenarios by rules, and apply the known deviations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance import editions
from llm_conformance.judging.calls.stops import REPORTS_FAULTS, Stops, reason
from llm_conformance.judging.deviations import Deviations
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import Known, RuleResult
from llm_conformance.judging.judge import Judgement, judge_exchange, known_without_running
from llm_conformance.judging.shown.answer import answer
from llm_conformance.judging.shown.counterexamples import Counterexample
from llm_conformance.judging.shown.failure_text import failure_text, reproduce_command
from llm_conformance.judging.shown.missed import missed
from llm_conformance.judging.status import Status, of_probe
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict, held_to, verdict
from llm_conformance.options import as_typed
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Violation
from llm_conformance.wire.named_cuts import name_of

_NOT_ASKED = (Status.BLOCKED, Status.UNSUPPORTED)


@dataclass(frozen=True)
class JudgedRule:
    """The verdict of a rule on a cell; `failure` is the text of a failure, else None."""

    verdict: Verdict
    failure: str | None = None


class CellJudge:
    """Judges cells by rules: runs the exchange if a rule needs it, applies known deviations, counts the verdicts.

    A cell is blocked if its callee is no longer called (`stops`). With `probes_apart`, probes have the status
    `probe-passed` or `probe-failed`. A failure is `new` if the rule or the scenario is newer than `edition`. Without
    `shrinks`, searches do not look for smaller examples. With `cuts` (a name of `wire.named_cuts`), rules that cut a
    stream in many ways cut it only in this way.
    """

    def __init__(
        self,
        runner: Runner,
        effort: Effort,
        deviations: Deviations | None = None,
        probes_apart: bool = False,
        edition: str = editions.CURRENT,
        shrinks: bool = True,
        stops: Stops | None = None,
        cuts: str = "",
    ) -> None:
        self._runner = runner
        self._effort = effort
        self._deviations = deviations or Deviations()
        self._probes_apart = probes_apart
        self._edition = edition
        self._shrinks = shrinks
        self._cuts = cuts
        self._stops = stops or Stops(is_active=False)

    def judge(self, cell: Cell, rules: Iterable[Rule], tally: Tally | None = None) -> list[JudgedRule]:
        """Judge a cell, and count all verdicts in `tally`. Return those that `verdict_without_running` cannot tell.

        An error in a rule is a fault of the suite. It counts as `error`, and is raised after the other rules have
        judged.
        """
        tally = tally or Tally(keeps=False)
        tally.add_excluded_tags(cell)
        judged = []
        fault: Exception | None = None
        for rule in rules:
            known = self.verdict_without_running(cell, rule)
            if known is not None:
                tally.add([known])
                continue
            cause = self._stops.cause(cell.callee, cell.scenario.id)
            if cause is not None:
                judged.append(self._not_asked(cell, rule, cause))
                tally.add([judged[-1].verdict])
                tally.add_not_asked(cell.callee, cause, cell.scenario.id, cell.mode)
                continue
            try:
                judged.append(self._judge(cell, rule))
            except Exception as error:
                tally.add([verdict(cell, rule, Status.ERROR, f"harness error: {error!r}")])
                fault = fault or error
                continue
            tally.add([judged[-1].verdict])
        if fault is not None:
            raise fault
        return judged

    def known_of_all(self, cell: Cell, rules: Iterable[Rule]) -> list[Verdict]:
        """Return the verdicts of all rules if none of them depends on what the adapter does, else an empty list."""
        known = []
        for rule in rules:
            each = self.verdict_without_running(cell, rule)
            if each is None:
                return []
            known.append(each)
        return known

    def verdict_without_running(self, cell: Cell, rule: Rule) -> Verdict | None:
        """Return the verdict if it does not depend on what the adapter does, else None."""
        known = known_without_running(cell, rule)
        if known is None and rule.vary_cuts:
            has_own = cell.scenario.provenance == "generated" and cell.scenario.cuts is not None
            if not (self._effort.examples or self._cuts or has_own):
                known = Judgement(Status.VACUOUS, "no other way to cut the stream was tried: 0 examples")
            elif not self._runner.hands_over_pieces(cell.method):
                known = Judgement(Status.VACUOUS, "the transport delivers the stream in one piece")
        return None if known is None else self._deviations.apply(verdict(cell, rule, known.status, known.message))

    def _not_asked(self, cell: Cell, rule: Rule, cause: str) -> JudgedRule:
        why = reason(cell.callee, cause)
        return JudgedRule(self._deviations.apply(verdict(cell, rule, Status.BLOCKED, why)))

    def _judge(self, cell: Cell, rule: Rule) -> JudgedRule:
        found: Mapping[str, Any] = {}
        if rule.vary_cuts:
            result = self._over_cuts(cell, rule)
            status, message, counterexample, found = result.status, result.message, result.shown, result.fields
        else:
            status, message, counterexample = self._once(cell, rule)
        is_probe = self._probes_apart and cell.scenario.grounds == "probe"
        if is_probe:
            status = of_probe(status)
        details: Mapping[str, Any] | None = None
        if counterexample is None:
            judged = verdict(cell, rule, status, message)
        else:
            if rule.vary_cuts:
                cuts = list(counterexample.cell.scenario.cuts or ())
                details = {"cuts": cuts, "returned": counterexample.returned}
            command = reproduce_command(cell, rule, self._options(counterexample, rule))
            violation = counterexample.violation
            judged = verdict(cell, rule, status, str(violation), details, violation, command)
            judged = replace(judged, missed=missed(counterexample.exchange, rule))
        is_settled = bool(found) and counterexample is not None and not is_probe
        judged = replace(judged, **found) if is_settled else self._deviations.apply(judged)
        judged = held_to(self._edition, judged, rule.since, cell.scenario.since)
        if rule.id == REPORTS_FAULTS and status not in _NOT_ASKED:
            self._stops.note(cell.callee, judged.status, self._runner.exchange(cell).outcome)
        if counterexample is None or judged.status != Status.FAIL:
            return JudgedRule(judged)
        if cell.scenario.provenance != "generated":
            details = {**answer(counterexample.exchange, rule), **(details or {})}
        elif not rule.vary_cuts:
            details = counterexample.details()  # a kept example is shown in the form in which the search showed it
        options = self._options(counterexample, rule)
        text = failure_text(cell, rule, counterexample.violation, options, details, missed=judged.missed)
        return JudgedRule(judged, text)

    def _options(self, counterexample: Counterexample, rule: Rule) -> tuple[str, ...]:
        """Return the further options of the command that reproduces a failure.

        They name the cuts that were found, so that the command does not search for them again.
        """
        cuts = counterexample.cell.scenario.cuts
        if not rule.vary_cuts or cuts is None:
            return self._runner.options
        name = name_of(cuts, len(counterexample.cell.scenario.interactions["stream"].body))
        return (*self._runner.options, f"{as_typed('cuts')}={name}")

    def _once(self, cell: Cell, rule: Rule) -> tuple[Status, str | None, Counterexample | None]:
        self._stops.note_asked(cell.callee, cell.scenario.id)
        exchange = self._runner.exchange(cell)
        judgement = judge_exchange(rule, exchange)
        violation = judgement.violation
        counterexample = None if violation is None else Counterexample(cell, exchange, violation)
        return judgement.status, judgement.message, counterexample

    def _over_cuts(self, cell: Cell, rule: Rule) -> RuleResult:
        # Importing Hypothesis takes longer than judging a provider; a run without generated inputs does not need it.
        from llm_conformance.judging.cut_search import judge_cuts, search_cuts

        if self._cuts:
            return judge_cuts(cell, rule, self._runner, self._known(cell), self._cuts)
        return search_cuts(cell, rule, self._runner, self._effort, self._known(cell), shrinks=self._shrinks)

    def _known(self, cell: Cell) -> Known:
        def positions(rule: Rule, violation: Violation) -> Sequence[int] | None:
            if editions.any_is_newer((rule.since, cell.scenario.since), self._edition):
                return ()
            return self._deviations.naming(verdict(cell, rule, Status.FAIL, violation=violation)) or None

        return positions
