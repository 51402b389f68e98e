"""Which exchanges a run consists of: adapters x scenarios x modes x methods, after the filters."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.judgement import Invariant
from llm_conformance.providers import Provider
from llm_conformance.scenarios import Scenario
from llm_conformance.subject import FACES, Face, Subject
from llm_conformance.truths import Mode

PURE = frozenset[Face]({"parse", "parse_stream"})
"""The methods that send no request, so that none has to be known."""


@dataclass(frozen=True)
class Cell:
    """One exchange to be run, judged by many invariants. `face` is the method; it is missing if not `runnable`."""

    subject: Subject
    scenario: Scenario
    mode: Mode
    face: Face

    @property
    def runnable(self) -> bool:
        """Whether the adapter has the method."""
        return self.face in self.subject.faces

    @property
    def holds_last_frame(self) -> bool:
        """Whether the end of the stream waits until there was content: where there is some before, and no other cut."""
        whole = self.scenario.cuts is None and self.scenario.fault is None
        return whole and bool(self.scenario.truths[self.mode].shows_early)

    def __str__(self) -> str:
        """Return the id used in the names of test items."""
        return f"{self.subject.label}-{self.scenario.id}-{self.face}"


@dataclass(frozen=True)
class Filters:
    """What the user restricted the run to; an empty collection restricts nothing."""

    providers: Collection[str] = ()
    scenarios: Collection[str] = ()
    invariants: Collection[str] = ()
    faces: Collection[str] = ()

    @property
    def given(self) -> bool:
        """Whether the run is partial because of them."""
        return bool(self.providers or self.scenarios or self.invariants or self.faces)

    def admits(self, scenario: Scenario) -> bool:
        """Whether the scenario is part of the run; the name of a bare cassette stands for all its interactions."""
        named = self.admits_id(scenario.id) or self.admits_id(_id(scenario.path))
        return named and self.admits_row(scenario.provider)

    def admits_row(self, row: Provider) -> bool:
        """Whether an API is part of the run."""
        return not self.providers or not {row.id, str(row)}.isdisjoint(self.providers)

    def admits_id(self, id: str) -> bool:
        """Whether a scenario of that id may be part of the run."""
        return not self.scenarios or any(fnmatch.fnmatchcase(id, pattern) for pattern in self.scenarios)

    def may_admit(self, path: Path) -> bool:
        """Whether a bare cassette may hold a recording that is part of the run; its provider is not known yet."""
        cassettes = [pattern.rpartition("#")[0] for pattern in self.scenarios]
        return self.admits_id(_id(path)) or any(fnmatch.fnmatchcase(_id(path), pattern) for pattern in cassettes)

    def judges(self, invariant: Invariant) -> bool:
        """Whether the invariant is part of the run."""
        return not self.invariants or invariant.id in self.invariants


def _id(cassette: Path) -> str:
    return f"{cassette.parent.name}/{cassette.stem}"


def cells(subjects: Collection[Subject], scenarios: Collection[Scenario], filters: Filters) -> Iterator[Cell]:
    """Yield every cell; one that is not runnable stands for a mode in which the adapter has no method at all."""
    for subject in subjects:
        for scenario in scenarios:
            if not subject.covers(scenario.provider) or not filters.admits(scenario):
                continue
            for mode in scenario.modes:
                faces = subject.faces_for(mode) or FACES[mode][:1]
                for face in faces:
                    known = scenario.replayable if face not in PURE else not scenario.over_http
                    if known and (not filters.faces or face in filters.faces):
                        yield Cell(subject, scenario, mode, face)
