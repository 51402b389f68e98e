"""The plan of a run: adapters x scenarios x modes x methods, restricted by the filters of the user."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from llm_conformance.adapter.declarations import METHODS, AdapterUnderTest
from llm_conformance.replay.cell import PURE, Cell
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.api import Api
from llm_conformance.wording import listed

DESELECTED = "some test items were deselected"
"""Why a run is partial if pytest deselected items, which happens in each shard."""


@dataclass(frozen=True)
class Filters:
    """The filters of a run; an empty collection admits everything."""

    providers: Collection[str] = ()
    scenarios: Collection[str] = ()
    rules: Collection[str] = ()
    methods: Collection[str] = ()
    cuts: str = ""
    """The name of the only way to cut a stream (`wire.named_cuts`), for rules that try many; "" for many ways."""

    @property
    def given(self) -> bool:
        """Whether the filters make the run partial."""
        return bool(self.providers or self.scenarios or self.rules or self.methods or self.cuts)

    def reasons(self) -> Iterator[str]:
        """Yield a few words for each given filter: they say which part of the suite it selects."""
        for noun, names in (
            ("provider", self.providers),
            ("scenario", self.scenarios),
            ("rule", self.rules),
            ("method", self.methods),
        ):
            if names:
                yield f"only the {noun}{'s' * (len(names) > 1)} {listed(list(names), 'and')}"
        if self.cuts:
            yield f"streams only cut at {self.cuts}"

    def admits(self, scenario: Scenario) -> bool:
        """Return True if the scenario is part of the run.

        If a bare recording has several interactions, their ids are that of the file, `#` and a number. A filter that
        matches the id of the file admits all of them.
        """
        named = self.admits_id(scenario.id) or self.admits_id(scenario.id.rpartition("#")[0])
        return named and self.admits_api(scenario.api)

    def admits_api(self, api: Api) -> bool:
        """Return True if the API is part of the run."""
        return not self.providers or not {api.provider, str(api)}.isdisjoint(self.providers)

    def admits_id(self, id: str) -> bool:
        """Return True if the filters on scenarios admit an id."""
        return not self.scenarios or any(fnmatch.fnmatchcase(id, pattern) for pattern in self.scenarios)

    def may_admit(self, id: str) -> bool:
        """Return True if a bare cassette may contain a recording of the run. Its providers are not known yet."""
        of_cassettes = [pattern.rpartition("#")[0] for pattern in self.scenarios]
        return self.admits_id(id) or any(fnmatch.fnmatchcase(id, pattern) for pattern in of_cassettes)

    def judges(self, rule: Rule) -> bool:
        """Return True if the rule is part of the run."""
        return not self.rules or any(fnmatch.fnmatchcase(rule.id, pattern) for pattern in self.rules)


def cells(adapters: Collection[AdapterUnderTest], scenarios: Collection[Scenario], filters: Filters) -> Iterator[Cell]:
    """Yield the cells of a run. If an adapter has no method for a mode, its cell for that mode is not runnable."""
    for adapter in adapters:
        for scenario in scenarios:
            if not adapter.covers(scenario.api) or not filters.admits(scenario):
                continue
            for mode in scenario.modes:
                methods = adapter.methods_for(mode) or METHODS[mode][:1]
                for method in methods:
                    is_possible = method not in PURE or not scenario.over_http
                    if is_possible and (not filters.methods or method in filters.methods):
                        yield Cell(adapter, scenario, mode, method)
