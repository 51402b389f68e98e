"""Test items of generated scenarios: one an adapter, row, theme and method; every rule judges every example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.deviations import Deviations
from llm_conformance.failures import Failures, JudgingItem
from llm_conformance.findings import Finding, Findings, Witness, example, kept, narratives
from llm_conformance.generate.themes import THEMES, Theme
from llm_conformance.judgement import Invariant, Status
from llm_conformance.locations import CASSETTES
from llm_conformance.plan import PURE, Cell, Filters
from llm_conformance.providers import Provider, table
from llm_conformance.scenarios import Scenario
from llm_conformance.search import search
from llm_conformance.subject import Face, Subject
from llm_conformance.tally import Tally
from llm_conformance.truths import Mode
from llm_conformance.verdict import Verdict, command

AGAIN = 0.3
"""How many examples a method that makes its own requests gets, as a part, where another is given the same bytes."""


@dataclass(frozen=True)
class Property:
    """What is searched: one theme, for one row of the provider table, through one method of an adapter.

    `alike` is how many rows of the same wire format are part of the run.
    """

    subject: Subject
    row: Provider
    theme: Theme
    mode: Mode
    face: Face
    alike: int

    @property
    def effort(self) -> float:
        """How many examples it gets, as a multiple of the usual number."""
        given_the_bytes = any(face in PURE for face in self.subject.faces_for(self.mode))
        again = self.face not in PURE and given_the_bytes and not self.theme.over_http
        return self.theme.effort * (AGAIN if again else 1)

    def __str__(self) -> str:
        """Return the name of its test item."""
        return f"{self.subject.label}-{self.theme.scenario_id(self.row)}-{self.face}"


def properties(subjects: Iterable[Subject], filters: Filters, has_server: bool) -> Iterator[Property]:
    """Yield everything that is to be searched. Without a server no connection can fail."""
    for subject in subjects:
        rows = [row for row in table().values() if subject.covers(row) and filters.admits_row(row)]
        alike = Counter(row.wire for row in rows)
        for row in rows:
            for theme in THEMES:
                if theme.suits(row) and filters.admits_id(theme.scenario_id(row)):
                    for mode in theme.modes:
                        for face in subject.faces_for(mode):
                            meets = not theme.over_http or (has_server and face not in PURE)
                            if meets and (not filters.faces or face in filters.faces):
                                yield Property(subject, row, theme, mode, face, alike[row.wire])


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
        invariants: Collection[Invariant],
        session_: Any,
        keep_in: Path | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._searched = searched
        self._deviations: Deviations = session_.deviations
        known = [rule for rule in invariants if self._verdict(rule, Finding()).deviation is not None]
        self._findings = Findings(session_.runner, invariants, known)
        self._effort = session_.effort.times(searched.effort, searched.alike)
        self._keep_in = keep_in
        self.tally = Tally(session_.keeps, items=1)

    def runtest(self) -> None:
        """Search."""
        self.tally = Tally(self.tally.keeps, items=1)
        searched = self._searched
        theme, row, mode = searched.theme, searched.row, searched.mode
        for last in (False, True):
            if not any(map(self._is_wrong, theme.all_listed(row, mode))):
                # A name for each search: Hypothesis forgets what it found under one once that fails no more.
                name = f"{self.name} to its end" if last else self.name
                search(name, theme.scenarios(row, mode), self._is_wrong, self._effort)
            if last or not self._findings.go_on():
                break
        self._findings.uncut()
        found = self._findings.by_rule
        verdicts = {rule: self._verdict(rule, finding) for rule, finding in found.items()}
        self.tally.add(verdicts.values())
        failed = {rule: each for rule, each in verdicts.items() if each.status == Status.FAIL}
        wrong = {rule: each.witness for rule, each in found.items() if each.witness is not None and rule in failed}
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
        return self._findings.breaks_a_rule(Cell(searched.subject, scenario, searched.mode, searched.face))

    def _verdict(self, rule: Invariant, finding: Finding) -> Verdict:
        searched = self._searched
        verdict = Verdict(
            adapter=searched.subject.label,
            invariant=rule.id,
            scenario=searched.theme.scenario_id(searched.row),
            provider=searched.row.id,
            api=searched.row.api,
            mode=searched.mode,
            face=searched.face,
            status=finding.status.value,
            message=str(finding.witness.violation) if finding.witness else finding.message,
            evidence="generated",
            example=self._example(rule, finding.witness) if finding.witness else None,
        )
        return self._deviations.apply(verdict)

    def _example(self, rule: Invariant, witness: Witness) -> Mapping[str, Any]:
        cell = kept(witness, self._keep_in)
        found = cell.scenario.home != CASSETTES
        return {
            **example(witness),
            "kept": str(cell.scenario.path) if found else None,
            "command": command(cell, rule, self._findings.options) if found else None,
        }

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return heading only: it stands in no file."""
        return self.path, None, str(self._searched)
