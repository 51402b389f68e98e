"""Test items of recorded scenarios: one for each rule and cell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.compare import encodable
from llm_conformance.judging.status import Status
from llm_conformance.pytest_plugin.failures import Failures, JudgingItem
from llm_conformance.pytest_plugin.run import Run
from llm_conformance.replay.cell import Cell
from llm_conformance.rules.rule import Rule


class RuleItem(JudgingItem):
    """One rule applied to one cell."""

    def __init__(self, *, cell: Cell, rule: Rule, run: Run, line: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell
        self.rule = rule
        self.line = line
        self._run = run
        self.judged = cell.adapter.label
        self.heading = f"{rule.id} {cell.scenario.id} {cell.method}"
        self.extra_keyword_matches.add(rule.id)

    def runtest(self) -> None:
        """Judge the cell; its exchange is run unless another rule has run it already."""
        (judged,) = self._run.judge.judge(self.cell, [self.rule], self.tally)
        self.tally.exchanges = self._run.exchange_details(self.cell)
        verdict = judged.verdict
        if judged.failure is not None:
            raise Failures([judged.failure], [verdict.headline])
        if verdict.status == Status.EXPECTED:
            pytest.xfail(self._run.settings.deviations.reason(verdict))
        if verdict.status == Status.NEW:
            pytest.xfail(f"new: {verdict.message}")
        if verdict.status == Status.PROBE_FAILED:
            pytest.xfail(encodable(f"probe: {verdict.message}"))
        if verdict.status not in (Status.PASS, Status.PROBE_PASSED):
            pytest.skip(encodable(f"{verdict.status}: {verdict.message}"))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line and heading."""
        return self.path, self.line, f"{self.rule.id} {self.cell}"


class RuleModule(pytest.File):
    """A module of the suite: its rules, and the cells that they are applied to."""

    def __init__(self, *, cells: list[Cell], rules: list[tuple[str, Rule]], run: Run, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._cells = cells
        self._rules = rules
        self._run = run

    def collect(self) -> Iterator[RuleItem]:
        """Yield an item for each rule and cell, unless the verdict is known without running anything."""
        collected = self._run.collected
        collected.modules.add(self.path)
        for name, rule in self._rules:
            line = rule.check.__code__.co_firstlineno
            for cell in self._cells:
                known = self._run.judge.verdict_without_running(cell, rule)
                if known is not None:
                    collected.known.add([known])
                    continue
                collected.items += 1
                yield RuleItem.from_parent(
                    self,
                    name=f"{name}[{cell}]",
                    nodeid=f"{self.nodeid}::{name}[{cell}]",
                    cell=cell,
                    rule=rule,
                    run=self._run,
                    line=line,
                )
