"""Test items: one a rule and cell."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.failures import Failures, JudgingItem
from llm_conformance.findings import judged, uncut
from llm_conformance.judgement import Invariant, Status, invariant_of
from llm_conformance.locations import RULES_PACKAGE
from llm_conformance.plan import Cell
from llm_conformance.tally import Tally
from llm_conformance.verdict import Verdict, settled, verdict


def invariants_in(path: Path) -> Iterator[tuple[str, Invariant]]:
    """Yield the rules of a module of the suite as (function name, invariant), in the order they are written."""
    module = importlib.import_module(f"{RULES_PACKAGE}.{path.stem}")
    for name, function in vars(module).items():
        found = invariant_of(function)
        if found is not None and name.startswith("test_"):
            yield name, found


class RuleItem(JudgingItem):
    """One rule applied to one cell."""

    def __init__(self, *, cell: Cell, invariant: Invariant, session_: Any, line: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell
        self.invariant = invariant
        self.line = line
        self._conformance = session_
        self.tally = Tally(session_.keeps)
        self.extra_keyword_matches.add(invariant.id)

    def runtest(self) -> None:
        """Run the exchange, if no other rule has done so, and judge it."""
        conformance = self._conformance
        self.tally = Tally(conformance.keeps)
        try:
            judgement, wrong = judged(self.cell, self.invariant, conformance.runner, conformance.effort)
            self.tally.exchanges = conformance.exchange_of(self.cell)
        except Exception as error:
            self._take(verdict(self.cell, self.invariant, Status.ERROR, f"harness error: {error!r}"))
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
        return self.path, self.line, f"{self.invariant.id} {self.cell}"


class RuleModule(pytest.File):
    """A module of the suite: its rules times the cells that they can see anything in."""

    def __init__(
        self, *, cells: list[Cell], invariants: list[tuple[str, Invariant]], session_: Any, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._cells = cells
        self._invariants = invariants
        self._conformance = session_

    def collect(self) -> Iterator[RuleItem]:
        """Yield the items; cells that need none are handed to the session as verdicts."""
        self._conformance.begin(self.path)
        for name, invariant in self._invariants:
            line = invariant.check.__code__.co_firstlineno
            for cell in self._cells:
                known = settled(cell, invariant) or uncut(cell, invariant, self._conformance.effort)
                if known is not None:
                    self._conformance.settle(known)
                    continue
                item = RuleItem.from_parent(
                    self,
                    name=f"{name}[{cell}]",
                    nodeid=f"{self.nodeid}::{name}[{cell}]",
                    cell=cell,
                    invariant=invariant,
                    session_=self._conformance,
                    line=line,
                )
                self._conformance.planned += 1
                yield item
