"""Judge a recorded stream that is cut in many ways, or in one named way."""

from __future__ import annotations

from dataclasses import replace

from llm_conformance.judging.cut_effort import ways_to_cut
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import ExampleJudge, Known, RuleResult
from llm_conformance.judging.search import find_failures
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios.scenario import recut
from llm_conformance.themes.cuts import recuts
from llm_conformance.wire.named_cuts import named


def search_cuts(cell: Cell, rule: Rule, runner: Runner, effort: Effort, known: Known, *, shrinks: bool) -> RuleResult:
    """Judge the stream of a cell by one rule, cut in many ways; return the result over all ways.

    If the scenario names cuts of the stream, as a kept example may do, the stream is judged with these cuts, too.
    `known` means the same as for `ExampleJudge`, and `shrinks` the same as for `find_failures`.
    """
    judge = ExampleJudge(runner, [rule], known)
    own = [cell.scenario] if cell.scenario.cuts is not None else []
    find_failures(
        judge,
        f"{rule.id} {cell.scenario.id} {cell.method}",
        recuts(cell.scenario.uncut or cell.scenario),
        lambda drawn: replace(cell, scenario=drawn),
        ways_to_cut(cell, effort),
        listed=lambda: own,
        shrinks=shrinks,
        remembered_as=f"{rule.id} {cell}",
    )
    return judge.results[rule]


def judge_cuts(cell: Cell, rule: Rule, runner: Runner, known: Known, name: str) -> RuleResult:
    """Judge the stream of a cell by one rule, cut in the way that `name` names."""
    judge = ExampleJudge(runner, [rule], known)
    whole = cell.scenario.uncut or cell.scenario
    judge.judge(replace(cell, scenario=recut(whole, named(name, len(whole.interactions["stream"].body)))))
    return judge.results[rule]
