"""Test items of generated scenarios: one an adapter, row, theme and method; every rule judges every example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter.under_test import AdapterUnderTest, Method
from llm_conformance.judging.deviations import Deviations
from llm_conformance.judging.findings import Counterexample, Finding, Findings, example, kept, narratives
from llm_conformance.judging.narrative import command
from llm_conformance.judging.plan import Filters
from llm_conformance.judging.search import search
from llm_conformance.judging.status import Status
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict
from llm_conformance.locations import CASSETTES
from llm_conformance.pytest_plugin.failures import Failures, JudgingItem
from llm_conformance.replay.cell import PURE, Cell
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES, Theme
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table

AGAIN = 0.3
"""How many examples a method that makes its own requests gets, as a part, where another is given the same bytes."""


@dataclass(frozen=True)
class Property:
    """What is searched: one theme, for one row of the provider table, through one method of an adapter.

    `alike` is how many rows of the same wire format are part of the run.
    """

    adapter: AdapterUnderTest
    api: Api
    theme: Theme
    mode: Mode
    method: Method
    alike: int

    @property
    def effort(self) -> float:
        """How many examples it gets, as a multiple of the usual number."""
        given_the_bytes = any(method in PURE for method in self.adapter.methods_for(self.mode))
        again = self.method not in PURE and given_the_bytes and not self.theme.over_http
        return self.theme.effort * (AGAIN if again else 1)

    def __str__(self) -> str:
        """Return the name of its test item."""
        return f"{self.adapter.label}-{self.theme.scenario_id(self.api)}-{self.method}"


def properties(adapters: Iterable[AdapterUnderTest], filters: Filters, has_server: bool) -> Iterator[Property]:
    """Yield everything that is to be searched. Without a server no connection can fail."""
    for adapter in adapters:
        apis = [api for api in table().values() if adapter.covers(api) and filters.admits_api(api)]
        alike = Counter(api.wire for api in apis)
        for api in apis:
            for theme in THEMES:
                if theme.suits(api) and filters.admits_id(theme.scenario_id(api)):
                    for mode in theme.modes:
                        for method in adapter.methods_for(mode):
                            meets = not theme.over_http or (has_server and method not in PURE)
                            if meets and (not filters.methods or method in filters.methods):
                                yield Property(adapter, api, theme, mode, method, alike[api.wire])


class GeneratedScenarios(pytest.Collector):
    """The generated scenarios of a run, as a node of pytest's tree."""

    def collect(self) -> Iterator[pytest.Item]:
        """Nothing by itself: the session makes the items."""
        yield from ()


class PropertyItem(JudgingItem):
    """One property: it draws scenarios, and has each judged by every rule that has something to look at."""

    def __init__(
        self,
        *,
        searched: Property,
        rules: Collection[Rule],
        session_: Any,
        keep_in: Path | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._searched = searched
        self._deviations: Deviations = session_.deviations
        known = [rule for rule in rules if self._verdict(rule, Finding()).deviation is not None]
        self._findings = Findings(session_.runner, rules, known)
        self._effort = session_.effort.times(searched.effort, searched.alike)
        self._keep_in = keep_in
        self.tally = Tally(session_.keeps, items=1)

    def runtest(self) -> None:
        """Search."""
        self.tally = Tally(self.tally.keeps, items=1)
        searched = self._searched
        theme, api, mode = searched.theme, searched.api, searched.mode
        for last in (False, True):
            if not any(map(self._is_wrong, theme.all_listed(api, mode))):
                # A name for each search: Hypothesis forgets what it found under one once that fails no more.
                name = f"{self.name} to its end" if last else self.name
                search(name, theme.scenarios(api, mode), self._is_wrong, self._effort)
            if last or not self._findings.go_on():
                break
        self._findings.uncut()
        found = self._findings.by_rule
        verdicts = {rule: self._verdict(rule, finding) for rule, finding in found.items()}
        self.tally.add(verdicts.values())
        failed = {rule: each for rule, each in verdicts.items() if each.status == Status.FAIL}
        wrong = {
            rule: each.counterexample
            for rule, each in found.items()
            if each.counterexample is not None and rule in failed
        }
        if wrong:
            told = list(narratives(wrong, self._keep_in, self._findings.options))
            raise Failures(told, [each.headline for each in failed.values()])
        known = [self._deviations.reason(each) for each in verdicts.values() if each.status == Status.EXPECTED]
        if known:
            pytest.xfail("; ".join(dict.fromkeys(known)))
        if not self.tally.summary[Status.PASS]:
            pytest.skip("no rule had anything to look at")

    def _is_wrong(self, scenario: Scenario) -> bool:
        searched = self._searched
        return self._findings.breaks_a_rule(Cell(searched.adapter, scenario, searched.mode, searched.method))

    def _verdict(self, rule: Rule, finding: Finding) -> Verdict:
        searched = self._searched
        verdict = Verdict(
            adapter=searched.adapter.label,
            rule=rule.id,
            scenario=searched.theme.scenario_id(searched.api),
            provider=searched.api.provider,
            api=searched.api.name,
            mode=searched.mode,
            method=searched.method,
            status=finding.status.value,
            message=str(finding.counterexample.violation) if finding.counterexample else finding.message,
            provenance="generated",
            example=self._example(rule, finding.counterexample) if finding.counterexample else None,
        )
        return self._deviations.apply(verdict)

    def _example(self, rule: Rule, counterexample: Counterexample) -> Mapping[str, Any]:
        cell = kept(counterexample, self._keep_in)
        found = cell.scenario.cassette_dir != CASSETTES
        return {
            **example(counterexample),
            "kept": str(cell.scenario.path) if found else None,
            "command": command(cell, rule, self._findings.options) if found else None,
        }

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return heading only: it stands in no file."""
        return self.path, None, str(self._searched)
