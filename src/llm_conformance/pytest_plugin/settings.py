"""What a run is asked for: the command line, read and checked, with everything that it names loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from llm_conformance.adapter import under_test
from llm_conformance.adapter.program import ProgramAdapter
from llm_conformance.adapter.under_test import AdapterUnderTest
from llm_conformance.judging import deviations
from llm_conformance.judging.deviations import Deviation, Deviations
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.plan import Filters
from llm_conformance.locations import CASSETTES, RULES
from llm_conformance.options import TIMEOUT_S
from llm_conformance.reports import files
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import lint, load
from llm_conformance.scenarios.arrival import as_it_arrived
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.yaml_files import BadFileError, FileProblem

_LONGEST_S = 3600


@dataclass(frozen=True)
class Settings:
    """What a run is asked for.

    Attributes:
        modules: The rules, by module of the suite, each with the name of its function.
        scenarios: Those that may be part of the run; `files` are those of all there are.
        bare: Cassettes without a scenario file, each with the directory in which it was looked for.
        reports: Where reports are to be written, `write_deviations` where the failures are, as deviations.
        timeout_s: How long one call may take, in seconds.
    """

    modules: Mapping[Path, Sequence[tuple[str, Rule]]]
    filters: Filters
    scenarios: Sequence[Scenario]
    files: Sequence[Path]
    bare: Sequence[tuple[Path, Path]]
    adapters: Sequence[AdapterUnderTest]
    deviations: Deviations
    reports: Sequence[Path]
    write_deviations: Path | None
    effort: Effort
    timeout_s: float
    transport: str
    arrival: str

    @property
    def replay_options(self) -> tuple[str, ...]:
        """The options that a call may end differently without, unless they say what is the default."""
        options = {"transport": self.transport, "timeout": f"{self.timeout_s:g}", "arrival": self.arrival}
        usual = {"transport": "server", "timeout": f"{TIMEOUT_S:g}", "arrival": "frames"}
        return tuple(f"--conformance-{name}={value}" for name, value in options.items() if value != usual[name])

    @property
    def apis(self) -> tuple[Api, ...]:
        """The rows of all scenarios that the filters admit, of providers that no adapter lists, too."""
        admitted = (path for path in self.files if self.filters.admits_id(load.id_of(path)))
        apis = (load.api_of(path) for path in admitted)
        return tuple(api for api in apis if api is not None and self.filters.admits_api(api))

    def ids(self) -> Iterator[str]:
        """Yield the id of every scenario: those with a file, and those of what is drawn."""
        yield from map(load.id_of, self.files)
        yield from (theme.scenario_id(api) for api in table().values() for theme in THEMES if theme.suits(api))


def read(config: pytest.Config) -> Settings:
    """Read the command line. Raises UsageError, with all that is wrong with one kind of option at once."""
    option = config.getoption
    directory = config.invocation_params.dir
    try:
        reports = files.destinations(option("conformance_report"), directory)
    except files.BadDestinationError as error:
        raise pytest.UsageError(str(error)) from error
    written = _new_file("--conformance-write-deviations", option("conformance_write_deviations"), directory)
    filters = Filters(
        providers=option("conformance_provider"),
        scenarios=option("conformance_scenario"),
        rules=option("conformance_rule"),
        methods=option("conformance_method"),
    )
    modules = {path: list(rules_in(path)) for path in sorted(RULES.glob("test_*.py"))}
    effort = _effort(option("conformance_examples"))
    try:
        more = _directories(option("conformance_cassettes"), directory)
        adapters = under_test.load_all(option("conformance_adapter"), directory)
        loaded = lint.load_all([CASSETTES, *more], lambda path: _concerns(path, filters, adapters))
        found = {folder: load.find(folder) for folder in (CASSETTES, *more)}
    except BadFileError as bad:
        raise pytest.UsageError(f"{bad}\n{lint.counted(bad.problems)} in the scenarios; nothing was run") from bad
    except under_test.BadAdapterError as error:
        raise pytest.UsageError(str(error)) from error
    if option("conformance_arrival") == "recorded":
        loaded = [as_it_arrived(each) for each in loaded]
    settings = Settings(
        modules=modules,
        filters=filters,
        scenarios=loaded,
        files=[path for with_truth, _ in found.values() for path in with_truth],
        bare=[(folder, path) for folder in more for path in found[folder][1]],
        adapters=adapters,
        deviations=Deviations(),
        reports=reports,
        write_deviations=written,
        effort=effort,
        timeout_s=option("conformance_timeout"),
        transport=option("conformance_transport"),
        arrival=option("conformance_arrival"),
    )
    problems = list(_problems(settings))
    if problems:
        raise pytest.UsageError("\n".join(problems))
    known = _deviations(settings, [directory / name for name in option("conformance_deviations")])
    return replace(settings, deviations=known)


def _concerns(path: Path, filters: Filters, adapters: Iterable[AdapterUnderTest]) -> bool:
    """Whether a scenario file has anything to say to this run; one that does not say whose it is has to be read."""
    api = load.api_of(path)
    wanted = api is None or (filters.admits_api(api) and any(each.covers(api) for each in adapters))
    return wanted and filters.admits_id(load.id_of(path))


def _problems(settings: Settings) -> Iterator[str]:
    filters = settings.filters
    known = _rules(settings)
    apis = {name for api in table().values() for name in (api.provider, str(api))}
    for wanted in filters.rules:
        if wanted not in known:
            yield f"--conformance-rule={wanted}: no such invariant; there are {', '.join(sorted(known))}"
    for wanted in filters.providers:
        if wanted not in apis:
            yield f"--conformance-provider={wanted}: no scenario of that provider; there are {', '.join(sorted(apis))}"
    for pattern in filters.scenarios:
        if not settings.bare and not any(Filters(scenarios=[pattern]).admits_id(id) for id in settings.ids()):
            yield f"--conformance-scenario={pattern}: matches none of the {len(settings.files)} scenarios"
    for id, paths in _named_alike(path for _, path in settings.bare).items():
        where = " and of ".join(map(str, paths))
        yield f"--conformance-cassettes: {id} is the name of {where}; rename a folder or a file"
    for each in settings.adapters:
        if settings.transport != "server" and isinstance(each.instance, ProgramAdapter):
            yield f"--conformance-transport={settings.transport}: replays in this process alone, not for {each.spec}"
    if not 0 < settings.timeout_s <= _LONGEST_S:
        yield f"--conformance-timeout: has to be more than 0 seconds and at most {_LONGEST_S}"


def _named_alike(cassettes: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the bare cassettes that have one id between them."""
    found: dict[str, list[Path]] = {}
    for path in cassettes:
        found.setdefault(_bare_id(path), []).append(path)
    return {id: paths for id, paths in found.items() if len(paths) > 1}


def _bare_id(path: Path) -> str:
    return load.id_of(path.with_suffix(""))


def _rules(settings: Settings) -> dict[str, Rule]:
    return {rule.id: rule for rules in settings.modules.values() for _, rule in rules}


def _deviations(settings: Settings, paths: Iterable[Path]) -> Deviations:
    rules = _rules(settings)
    ids = {*settings.ids(), *(_bare_id(path) for _, path in settings.bare)}
    effort = settings.effort
    try:
        listed: list[Deviation] = []
        problems: list[FileProblem] = []
        for path in paths:
            try:
                listed += deviations.load(path, rules, ids)
            except BadFileError as bad:
                problems += bad.problems
        if problems:
            raise BadFileError(*problems)
        searched = {id for id, rule in rules.items() if rule.vary_cuts}
        return deviations.for_run(listed, settings.adapters, searched, effort.reproducible and effort.examples > 0)
    except BadFileError as bad:
        raise pytest.UsageError(f"{bad}\n{lint.counted(bad.problems)} in the deviations; nothing was run") from bad


def _effort(named: str) -> Effort:
    try:
        return Effort.named(named)
    except ValueError as error:
        raise pytest.UsageError(f"--conformance-examples={named}: has to be {error}") from error


def _new_file(option: str, name: str | None, base: Path) -> Path | None:
    if name is None:
        return None
    path = base / name
    if path.exists():
        raise pytest.UsageError(f"{option}={path}: is there already, and is not overwritten; name another file")
    if not path.parent.is_dir():
        raise pytest.UsageError(f"{option}={path}: no such directory")
    return path


def _directories(names: Iterable[str], base: Path) -> list[Path]:
    """Return the directories, none twice or within another, so that no file is judged twice."""
    found = [base / name for name in names]
    problems = [f"--conformance-cassettes={path}: {problem}" for path in found if (problem := _unusable(path))]
    if problems:
        raise pytest.UsageError("\n".join(problems))
    kept: list[Path] = []
    for path in sorted(path.resolve() for path in found):  # a folder comes before what is in it
        if not any(path.is_relative_to(other) for other in (CASSETTES.resolve(), *kept)):
            kept.append(path)
    return kept


def _unusable(path: Path) -> str | None:
    """Return why no cassettes can be had there, None if they can."""
    if path.is_file():
        return "this is a file; give the directory in which it stands"
    if not path.is_dir():
        return "no such directory"
    return None if any(path.rglob("*.yaml")) else "no cassette (*.yaml) in this directory"
