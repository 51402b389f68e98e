"""The settings of a run."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging.deviations import Deviations
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.plan import Filters
from llm_conformance.options import DEFAULTS, as_typed
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import core_faults, load
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table


@dataclass(frozen=True)
class Settings:
    """The settings of a run.

    Attributes:
        modules: Maps each module of the suite to its rules and the names of their functions.
        scenarios: The scenarios that this run may use.
        files: All scenario files, including those that this run does not use.
        bare: Cassettes without a scenario file.
        other_files: The number of other files beside the bare cassettes. The names of these files show that they are no
            recordings.
        reports: The report files to write.
        write_deviations: The file of known deviations to write.
        probes_apart: Whether a failing probe is shown without failing the run.
        edition: The edition that the run is pinned to. Newer rules and scenarios are judged, but do not fail the run.
        timeout_s: The limit for one call of an adapter, in seconds.
    """

    modules: Mapping[Path, Sequence[tuple[str, Rule]]]
    filters: Filters
    scenarios: Sequence[Scenario]
    files: Sequence[Path]
    bare: Sequence[BareFile]
    other_files: int
    adapters: Sequence[AdapterUnderTest]
    deviations: Deviations
    reports: Sequence[Path]
    write_deviations: Path | None
    effort: Effort
    probes_apart: bool
    edition: str
    timeout_s: float
    transport: str
    isolation: str
    arrival: str

    @property
    def replay_options(self) -> tuple[str, ...]:
        """The options that change how a call is replayed, without options at their default values."""
        options: dict[str, str | float] = {
            "transport": self.transport,
            "timeout": self.timeout_s,
            "arrival": self.arrival,
            "probes": "apart" if self.probes_apart else "judge",
        }
        changed = {name: value for name, value in options.items() if value != DEFAULTS[name]}
        return tuple(f"{as_typed(name)}={_shown(value)}" for name, value in changed.items())

    @functools.cached_property
    def apis(self) -> tuple[Api, ...]:
        """The APIs of all scenarios that the filters admit, including APIs that no adapter lists."""
        admitted = (path for path in self.files if self.filters.admits_id(load.id_of(path)))
        apis = (load.api_of(path) for path in admitted)
        return tuple(api for api in apis if api is not None and self.filters.admits_api(api))

    @property
    def rules(self) -> dict[str, Rule]:
        """All rules of the suite by their ids, in the order of the modules."""
        return {rule.id: rule for rules in self.modules.values() for _, rule in rules}

    def ids(self) -> Iterator[str]:
        """Yield the id of every scenario, recorded or generated."""
        yield from map(load.id_of, self.files)
        yield from (id for path in self.files for id in core_faults.ids_in(path))
        from llm_conformance.themes.theme import THEMES  # imports Hypothesis, which is slow

        yield from (theme.scenario_id(api) for api in table().values() for theme in THEMES if theme.suits(api))


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
