"""Test items of bare recordings: one for each cassette, judged by all rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.formats import calls
from llm_conformance.judging import plan
from llm_conformance.judging.cell_judge import JudgedRule
from llm_conformance.judging.status import QUIET, Status
from llm_conformance.pytest_plugin.failures import JudgingItem
from llm_conformance.pytest_plugin.run import Run
from llm_conformance.replay.cell import PURE, Cell
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import bare, cassette
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.yaml_files import BadFileError

_TOLD = (Status.FAIL, Status.EXPECTED, Status.NEW)


class BareRecordings(pytest.Collector):
    """The bare recordings of a run, as a node of pytest's tree."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield nothing; the session makes the items."""
        yield from ()


class BareItem(JudgingItem):
    """One cassette. Each of its interactions is judged through each adapter and method, by each rule."""

    def __init__(self, *, file: BareFile, rules: Collection[Rule], run: Run, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._file = file
        self._rules = rules
        self._run = run
        self.judged = "bare recordings"
        self.heading = file.path.relative_to(file.directory).as_posix()

    def runtest(self) -> None:
        """Judge the cassette."""
        judged: list[JudgedRule] = []
        try:
            for recording in filter(self._is_admitted, bare.recordings_of(self._file)):
                self.tally.recordings += 1
                if not isinstance(recording, bare.NotJudged):
                    judged += self._judge(calls.asked(replace(recording, cassette_dir=self._file.directory)))
                elif recording.unknown_at and not recording.service:
                    for adapter in self._run.settings.adapters:
                        self.tally.add_not_covered(adapter.label, recording.unknown_at)
                else:
                    self.tally.out_of_scope[recording.why] += 1
        except cassette.NoRecordingsError as other:
            self.tally.other_files[str(other)] += 1
            pytest.skip(str(other))
        except BadFileError as bad:
            self.tally.bad_files += map(str, bad.problems)
            pytest.skip(str(bad))
        except Exception:
            if not self.tally.summary[Status.ERROR]:
                self.tally.add_fault()
            raise
        self.conclude(judged)

    def nothing_judged(self, judged: Sequence[JudgedRule]) -> str:
        """Return why no recording was judged."""
        return next(iter(self.tally.out_of_scope), "no adapter covers it, or no rule had anything to judge")

    def _is_admitted(self, recording: Scenario | bare.NotJudged) -> bool:
        filters = self._run.settings.filters
        if isinstance(recording, Scenario):
            return filters.admits(recording)
        return not (recording.unknown_at and filters.providers)

    def _judge(self, scenario: Scenario) -> Iterator[JudgedRule]:
        for adapter in self._run.settings.adapters:
            if not adapter.covers(scenario.api):
                (interaction,) = scenario.interactions.values()
                self.tally.add_not_covered(adapter.label, bare.place_of(interaction.uri))
                continue
            for cell in plan.cells([adapter], [scenario], self._run.settings.filters):
                judged = self._run.judge.judge(cell, self._rules, self.tally)
                if any(each.verdict.status not in QUIET for each in judged):
                    self.tally.exchanges.update(self._run.exchange_details(cell))
                self._count_asked(cell, was_judged=bool(judged))
                # Passes are left out, because they are counted already and a long run has many of them.
                yield from (each for each in judged if each.verdict.status in _TOLD)

    def _count_asked(self, cell: Cell, was_judged: bool) -> None:
        """Note whether the adapter could be asked to send a recording's request, or why not."""
        if cell.method in PURE or not cell.runnable:
            return
        label, scenario = cell.adapter.label, cell.scenario
        if scenario.cannot_be_asked:
            self.tally.add_asked(label, scenario.cannot_be_asked)
        elif was_judged and self._run.stops.cause(cell.callee, scenario.id) is None:
            self.tally.add_asked(label, self._run.runner.exchange(cell).outcome.unsupported)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line and heading."""
        return self._file.path, 0, self._file.id
