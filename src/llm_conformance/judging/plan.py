"""Which exchanges a run consists of: adapters x scenarios x modes x methods, after the filters."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.adapter.under_test import METHODS, AdapterUnderTest
from llm_conformance.replay.cell import PURE, Cell
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.api import Api


@dataclass(frozen=True)
class Filters:
    """What the user restricted the run to; an empty collection restricts nothing."""

    providers: Collection[str] = ()
    scenarios: Collection[str] = ()
    rules: Collection[str] = ()
    methods: Collection[str] = ()

    @property
    def given(self) -> bool:
        """Whether the run is partial because of them."""
        return bool(self.providers or self.scenarios or self.rules or self.methods)

    def admits(self, scenario: Scenario) -> bool:
        """Whether the scenario is part of the run; the name of a bare cassette stands for all its interactions."""
        named = self.admits_id(scenario.id) or self.admits_id(_id(scenario.path))
        return named and self.admits_api(scenario.api)

    def admits_api(self, api: Api) -> bool:
        """Whether an API is part of the run."""
        return not self.providers or not {api.provider, str(api)}.isdisjoint(self.providers)

    def admits_id(self, id: str) -> bool:
        """Whether a scenario of that id may be part of the run."""
        return not self.scenarios or any(fnmatch.fnmatchcase(id, pattern) for pattern in self.scenarios)

    def may_admit(self, path: Path) -> bool:
        """Whether a bare cassette may hold a recording that is part of the run; its provider is not known yet."""
        cassettes = [pattern.rpartition("#")[0] for pattern in self.scenarios]
        return self.admits_id(_id(path)) or any(fnmatch.fnmatchcase(_id(path), pattern) for pattern in cassettes)

    def judges(self, rule: Rule) -> bool:
        """Whether the invariant is part of the run."""
        return not self.rules or rule.id in self.rules


def _id(cassette: Path) -> str:
    return f"{cassette.parent.name}/{cassette.stem}"


def cells(adapters: Collection[AdapterUnderTest], scenarios: Collection[Scenario], filters: Filters) -> Iterator[Cell]:
    """Yield every cell; one that is not runnable stands for a mode in which the adapter has no method at all."""
    for adapter in adapters:
        for scenario in scenarios:
            if not adapter.covers(scenario.api) or not filters.admits(scenario):
                continue
            for mode in scenario.modes:
                methods = adapter.methods_for(mode) or METHODS[mode][:1]
                for method in methods:
                    known = scenario.replayable if method not in PURE else not scenario.over_http
                    if known and (not filters.methods or method in filters.methods):
                        yield Cell(adapter, scenario, mode, method)
