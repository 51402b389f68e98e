"""Test items of scenarios: one for each exchange. A rule judges the exchange if it finds something to judge.

About twenty rules judge each exchange. With an item for each rule, pytest would take longer than the judging.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.pytest_plugin.failures import JudgingItem
from llm_conformance.pytest_plugin.run import Run
from llm_conformance.replay.cell import Cell
from llm_conformance.rules.rule import Rule


class RuleModule(pytest.File):
    """A module of the suite, with its rules."""

    def __init__(self, *, rules: Collection[tuple[str, Rule]], run: Run, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rules = rules
        self._run = run

    def collect(self) -> Iterator[RuleFunction]:
        """Yield the rules."""
        self._run.collected.modules.add(self.path)
        for name, rule in self._rules:
            yield RuleFunction.from_parent(self, name=name, rule=rule, run=self._run)


class RuleFunction(pytest.Collector):
    """A rule that takes part in the run.

    The user has named it (`test_message.py::test_...`), or has named no rule at all.
    """

    def __init__(self, *, rule: Rule, run: Run, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rule = rule
        self._run = run

    def collect(self) -> Iterator[pytest.Item]:
        """Register the rule for the run. Yields no items."""
        self._run.collected.rules.add(self._rule.id)
        yield from ()


class Scenarios(pytest.Collector):
    """The scenarios of a run, as a node of pytest's tree."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield nothing; the session makes the items."""
        yield from ()


class ExchangeItem(JudgingItem):
    """One exchange: a scenario through one method of an adapter. All rules judge it."""

    def __init__(self, *, cell: Cell, rules: Collection[Rule], run: Run, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell
        self._rules = rules
        self._run = run
        self.judged = cell.adapter.label
        self.heading = f"{cell.scenario.id} {cell.method}"

    def runtest(self) -> None:
        """Run the exchange and judge it."""
        self.told = self._run.judge.judge(self.cell, self._rules, self.tally)
        self.tally.exchanges = self._run.exchange_details(self.cell)
        self.conclude(self.told)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line and heading."""
        return self.cell.scenario.path, 0, str(self.cell)
