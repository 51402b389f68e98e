"""Judge a recorded stream that is cut in many ways, or in one named way."""

from __future__ import annotations

from dataclasses import replace

from llm_conformance.judging.effort import SENDING, Effort
from llm_conformance.judging.example_judge import ExampleJudge, Known, RuleResult
from llm_conformance.judging.search import find_failures
from llm_conformance.replay.cell import Cell, a_parser_gets_the_bytes
from llm_conformance.replay.runner import Runner
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios.scenario import recut
from llm_conformance.themes.cuts import recuts
from llm_conformance.wire.named_cuts import named

_CUTS = 0.08
"""For each example of the effort, the search tries this many ways of cutting a recorded stream.

They are few, because all streams of an API are cut, and each in other ways.
"""

_WHILE_WAITING = Effort(1, reproducible=True)
"""The effort for a stream after which the server goes silent: each try waits for the time limit of a call."""


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
        _ways(cell, effort),
        listed=lambda: own,
        shrinks=shrinks,
        remembered_as=f"{rule.id} {cell}",
    )
    return judge.results[rule]


def _ways(cell: Cell, effort: Effort) -> Effort:
    """Return how many ways to try.

    A method that sends requests gets few if a parser gets the same pieces. Of a stream with a fault, it does not get
    the same.
    """
    fault = cell.scenario.fault
    if fault is not None:
        return _WHILE_WAITING if fault.kind == "silence" else effort.times(_CUTS)
    return effort.times(_CUTS * (SENDING if a_parser_gets_the_bytes(cell.adapter, cell.mode, cell.method) else 1))


def judge_cuts(cell: Cell, rule: Rule, runner: Runner, known: Known, name: str) -> RuleResult:
    """Judge the stream of a cell by one rule, cut in the way that `name` names."""
    judge = ExampleJudge(runner, [rule], known)
    whole = cell.scenario.uncut or cell.scenario
    judge.judge(replace(cell, scenario=recut(whole, named(name, len(whole.interactions["stream"].body)))))
    return judge.results[rule]
