"""Test items of bare recordings: one a file, judged by all rules when its turn comes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter.under_test import AdapterUnderTest
from llm_conformance.judging import plan
from llm_conformance.judging.findings import judged
from llm_conformance.judging.judge import known_without_running
from llm_conformance.judging.plan import Filters
from llm_conformance.judging.status import Status
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import verdict
from llm_conformance.pytest_plugin.failures import Failures, JudgingItem
from llm_conformance.replay.cell import Cell
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import bare
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.yaml_files import BadFileError


class BareRecordings(pytest.Collector):
    """The bare recordings of a run, as a node of pytest's tree."""

    def collect(self) -> Iterator[pytest.Item]:
        """Nothing by itself: the session makes the items."""
        yield from ()


class BareItem(JudgingItem):
    """One cassette: each of its interactions, through each adapter and method, judged by each rule."""

    def __init__(
        self,
        *,
        cassette_dir: Path,
        file: Path,
        adapters: Collection[AdapterUnderTest],
        rules: Collection[Rule],
        filters: Filters,
        session_: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._cassette_dir = cassette_dir
        self._file = file
        self._adapters = adapters
        self._rules = rules
        self._filters = filters
        self._conformance = session_
        self._expected: list[str] = []
        self.tally = Tally(session_.keeps, items=1)

    def runtest(self) -> None:
        """Judge the file."""
        self.tally = Tally(self.tally.keeps, items=1)
        self._expected = []
        wrong: list[tuple[str, str]] = []
        try:
            for recording in filter(self._is_admitted, bare.recordings(self._file)):
                self.tally.recordings += 1
                if not isinstance(recording, bare.NotJudged):
                    wrong += self._judge(replace(recording, cassette_dir=self._cassette_dir))
                elif recording.unknown_api:
                    self.tally.not_covered.update(adapter.label for adapter in self._adapters)
                else:
                    self.tally.out_of_scope[recording.why] += 1
        except BadFileError as bad:
            self.tally.bad_files += map(str, bad.problems)
            pytest.skip(str(bad))
        except Exception:
            if not self.tally.summary[Status.ERROR]:
                self.tally.add_fault()
            raise
        if wrong:
            raise Failures(*zip(*wrong, strict=True))
        if self._expected:
            pytest.xfail("; ".join(dict.fromkeys(self._expected)))
        if not self.tally.summary[Status.PASS]:
            pytest.skip(next(iter(self.tally.out_of_scope), "not covered, or nothing that a rule could look at"))

    def _is_admitted(self, recording: Scenario | bare.NotJudged) -> bool:
        if isinstance(recording, Scenario):
            return self._filters.admits(recording)
        return not (recording.unknown_api and self._filters.providers)

    def _judge(self, scenario: Scenario) -> Iterator[tuple[str, str]]:
        for adapter in self._adapters:
            if not adapter.covers(scenario.api):
                self.tally.not_covered[adapter.label] += 1
                continue
            for cell in plan.cells([adapter], [scenario], self._filters):
                yield from self._judge_cell(cell)

    def _judge_cell(self, cell: Cell) -> Iterator[tuple[str, str]]:
        """Yield what is wrong: all that is to be told, and a line."""
        conformance = self._conformance
        for rule in self._rules:
            known = known_without_running(cell, rule)
            if known is not None:
                self.tally.add([conformance.deviations.apply(known)])
                continue
            try:
                judgement, wrong = judged(cell, rule, conformance.runner, conformance.effort)
                self.tally.exchanges |= conformance.exchange_of(cell)
            except Exception as error:
                self.tally.add([verdict(cell, rule, Status.ERROR, f"harness error: {error!r}")])
                raise
            found = conformance.deviations.apply(judgement)
            self.tally.add([found])
            if found.status == Status.EXPECTED:
                self._expected.append(conformance.deviations.reason(found))
            elif wrong is not None:
                yield wrong, found.headline

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line and heading."""
        return self._file, 0, f"{self._file.parent.name}/{self._file.stem}"
