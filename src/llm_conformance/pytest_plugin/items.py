"""Test items: one a rule and cell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.judging.findings import judged, uncut
from llm_conformance.judging.judge import known_without_running
from llm_conformance.judging.status import Status
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict, verdict
from llm_conformance.pytest_plugin.failures import Failures, JudgingItem
from llm_conformance.replay.cell import Cell
from llm_conformance.rules.rule import Rule


class RuleItem(JudgingItem):
    """One rule applied to one cell."""

    def __init__(self, *, cell: Cell, rule: Rule, session_: Any, line: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell
        self.rule = rule
        self.line = line
        self._conformance = session_
        self.tally = Tally(session_.keeps)
        self.extra_keyword_matches.add(rule.id)

    def runtest(self) -> None:
        """Run the exchange, if no other rule has done so, and judge it."""
        conformance = self._conformance
        self.tally = Tally(conformance.keeps)
        try:
            judgement, wrong = judged(self.cell, self.rule, conformance.runner, conformance.effort)
            self.tally.exchanges = conformance.exchange_of(self.cell)
        except Exception as error:
            self._take(verdict(self.cell, self.rule, Status.ERROR, f"harness error: {error!r}"))
            raise
        found = conformance.deviations.apply(judgement)
        self._take(found)
        if found.status == Status.EXPECTED:
            pytest.xfail(conformance.deviations.reason(found))
        if wrong is not None:
            raise Failures([wrong], [found.headline])
        if found.status != Status.PASS:
            pytest.skip(f"{found.status}: {found.message}")

    def _take(self, found: Verdict) -> None:
        self.tally.items = 1
        self.tally.add([found])

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line and heading."""
        return self.path, self.line, f"{self.rule.id} {self.cell}"


class RuleModule(pytest.File):
    """A module of the suite: its rules times the cells that they can see anything in."""

    def __init__(self, *, cells: list[Cell], rules: list[tuple[str, Rule]], session_: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._cells = cells
        self._rules = rules
        self._conformance = session_

    def collect(self) -> Iterator[RuleItem]:
        """Yield the items; cells that need none are handed to the session as verdicts."""
        self._conformance.begin(self.path)
        for name, rule in self._rules:
            line = rule.check.__code__.co_firstlineno
            for cell in self._cells:
                known = known_without_running(cell, rule) or uncut(cell, rule, self._conformance.effort)
                if known is not None:
                    self._conformance.settle(known)
                    continue
                item = RuleItem.from_parent(
                    self,
                    name=f"{name}[{cell}]",
                    nodeid=f"{self.nodeid}::{name}[{cell}]",
                    cell=cell,
                    rule=rule,
                    session_=self._conformance,
                    line=line,
                )
                self._conformance.planned += 1
                yield item
