"""The settings of a run: the options, checked, and everything they name, loaded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from llm_conformance import editions
from llm_conformance.adapter import loader, unknown_providers
from llm_conformance.adapter.declarations import AdapterUnderTest, BadAdapterError, Isolation
from llm_conformance.adapter.loader import isolation
from llm_conformance.calling.program import ProgramAdapter
from llm_conformance.corpus import manifest, places, recordings
from llm_conformance.judging import deviations, deviations_file
from llm_conformance.judging.deviations import Deviation, Deviations
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.plan import Filters
from llm_conformance.locations import CASSETTES, RULES
from llm_conformance.options import DEFAULTS, as_typed
from llm_conformance.reports import files
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import bare, core_faults, lint, load
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.scenarios.scenario import Scenario, as_it_arrived
from llm_conformance.wire import named_cuts
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import counted, did_you_mean, did_you_mean_scenario, no_such
from llm_conformance.yaml_files import BadFileError, FileProblem

_LONGEST_S = 3600
_MOST_NAMES = 5


@dataclass(frozen=True)
class Settings:
    """The settings of a run.

    Attributes:
        modules: The rules of each module of the suite, with the names of their functions.
        scenarios: The scenarios that this run may use.
        files: All scenario files, also those that this run does not use.
        bare: Cassettes without a scenario file.
        other_files: The number of files beside them that have no recordings, as their names say.
        reports: The report files to write.
        write_deviations: The file of known deviations to write.
        probes_apart: Whether a failing probe is shown without failing the run.
        edition: What is newer is judged, but its failures do not fail the run.
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
        """The options that change how a call is replayed, without those that have their default value."""
        options: dict[str, str | float] = {
            "transport": self.transport,
            "timeout": self.timeout_s,
            "arrival": self.arrival,
            "probes": "apart" if self.probes_apart else "judge",
        }
        changed = {name: value for name, value in options.items() if value != DEFAULTS[name]}
        return tuple(f"{as_typed(name)}={_shown(value)}" for name, value in changed.items())

    @property
    def apis(self) -> tuple[Api, ...]:
        """The API of each scenario that the filters admit, also where no adapter lists the provider."""
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


def read(config: pytest.Config) -> Settings:
    """Read the options and load what they name.

    Raises pytest.UsageError with all problems of one kind of option or file.
    """
    opened: list[AdapterUnderTest] = []
    try:
        return _read(config, opened)
    except BaseException:
        for adapter in opened:
            adapter.close()
        raise


def _read(config: pytest.Config, opened: list[AdapterUnderTest]) -> Settings:
    """Do what `read` does; the adapters are added to `opened`, so that they are closed if something else is wrong."""
    option = config.getoption
    directory = config.invocation_params.dir
    try:
        reports = files.destinations(option("conformance_report"), directory, as_typed("report"))
    except files.BadDestinationError as error:
        raise pytest.UsageError(str(error)) from error
    write_deviations = _new_file("write-deviations", option("conformance_write_deviations"), directory)
    filters = Filters(
        providers=option("conformance_provider"),
        scenarios=option("conformance_scenario"),
        rules=option("conformance_rule"),
        methods=option("conformance_method"),
        cuts=option("conformance_cuts"),
    )
    modules = {path: list(rules_in(path)) for path in sorted(RULES.glob("test_*.py"))}
    effort = _effort(option("conformance_examples"))
    try:
        corpora = option("conformance_corpus")
        own = _directories("cassettes", option("conformance_cassettes"), directory)
        own = _without_nested([*own, *_directories("corpus", (n for n in corpora if n != places.PUBLIC), directory)])
        transport = option("conformance_transport")
        isolation = _isolation(option("conformance_isolation"), transport)
        adapters = loader.load_all(option("conformance_adapter"), directory, isolation)
        opened += adapters
        found = {folder: load.find(folder) for folder in (CASSETTES, *own)}
        of_own = [bare.file_in(path, folder) for folder in own for path in found[folder][1]]
        to_check = [] if hasattr(config, "workerinput") else [each for each in of_own if filters.may_admit(each.id)]
        loaded = _load([CASSETTES, *own], lambda path: _concerns(path, filters, adapters), to_check)
        loaded += core_faults.of(loaded)
    except BadFileError as bad:
        raise pytest.UsageError(f"{bad}\n{lint.summed_up(bad.problems)}; nothing was run") from bad
    except BadAdapterError as error:
        raise pytest.UsageError(str(error)) from error
    if option("conformance_arrival") == "recorded":
        loaded = [as_it_arrived(each) for each in loaded]
    settings = Settings(
        modules=modules,
        filters=filters,
        scenarios=loaded,
        files=[path for scenario_files, _ in found.values() for path in scenario_files],
        other_files=sum(map(load.other_files, own)),
        bare=[
            *of_own,
            *(_public(filters, adapters) if places.PUBLIC in corpora else ()),
        ],
        adapters=adapters,
        deviations=Deviations(),
        reports=reports,
        write_deviations=write_deviations,
        effort=effort,
        probes_apart=option("conformance_probes") == "apart",
        edition=option("conformance_edition"),
        timeout_s=option("conformance_timeout"),
        transport=transport,
        isolation=option("conformance_isolation"),
        arrival=option("conformance_arrival"),
    )
    problems = list(_problems(settings))
    if problems:
        raise pytest.UsageError("\n".join(problems))
    # A run of a part of the suite reads a part of the corpus only.
    has_all = places.PUBLIC in corpora and not filters.given
    elsewhere = () if has_all else [package.name for package in manifest.packages()]
    known = _deviations(settings, [directory / name for name in option("conformance_deviations")], elsewhere)
    return replace(settings, deviations=known)


def _load(directories: Iterable[Path], admits: Callable[[Path], bool], cassettes: Iterable[BareFile]) -> list[Scenario]:
    """Return the scenarios. Raises BadFileError with the problems of all of them, and of the bare cassettes."""
    problems: list[FileProblem] = []
    loaded: list[Scenario] = []
    try:
        loaded += lint.load_all(directories, admits)
    except BadFileError as bad:
        problems += bad.problems
    problems += bare.problems(cassettes)
    if problems:
        raise BadFileError(*problems)
    return loaded


def _isolation(named: str, transport: str) -> Isolation:
    """Return where adapters run. Raises pytest.UsageError for what cannot be."""
    try:
        return isolation(named, transport)
    except ValueError as error:
        raise pytest.UsageError(f"{as_typed('isolation')}={named}: {error}") from error


def _concerns(path: Path, filters: Filters, adapters: Iterable[AdapterUnderTest]) -> bool:
    """Return True if this run uses a scenario file, or if the file does not name its API and must be read to know."""
    api = load.api_of(path)
    wanted = api is None or (filters.admits_api(api) and any(each.covers(api) for each in adapters))
    return wanted and (filters.admits_id(load.id_of(path)) or any(map(filters.admits_id, core_faults.ids_in(path))))


def _problems(settings: Settings) -> Iterator[str]:
    filters = settings.filters
    known = settings.rules
    apis = unknown_providers.names()
    if settings.edition not in editions.EDITIONS:
        yield (
            f"{as_typed('edition')}={settings.edition}: no such edition; this version of the suite has "
            f"{', '.join(editions.EDITIONS)}"
        )
    for wanted in filters.rules:
        if wanted not in known:
            problem = no_such("rule", did_you_mean(wanted, known, 3), "llm-conformance list rules")
            yield f"{as_typed('rule')}={wanted}: {problem}"
    for wanted in filters.providers:
        if wanted not in apis:
            problem = unknown_providers.message(did_you_mean(wanted, apis))
            yield f"{as_typed('provider')}={wanted}: {problem}"
    for pattern in filters.scenarios:
        if not settings.bare and not any(Filters(scenarios=[pattern]).admits_id(id) for id in settings.ids()):
            hint = did_you_mean_scenario(pattern, settings.ids())
            problem = no_such("scenario", hint, core_faults.list_command(pattern))
            yield f"{as_typed('scenario')}={pattern}: {problem}"
    if filters.cuts and not named_cuts.is_well_formed(filters.cuts):
        yield f"{as_typed('cuts')}={filters.cuts}: must be byte offsets (12,57), / and a number of bytes (/3), or none"
    for id, paths in _sharing_an_id(settings.bare).items():
        where = " and of ".join(map(str, paths))
        yield f"{as_typed('cassettes')}: {id} is the id of {where}; rename a directory or a file"
    for adapter in settings.adapters:
        hint = next(filter(None, unknown_providers.hints(adapter).values()), "")
        if adapter.providers.isdisjoint(apis) and hint:
            problem = unknown_providers.message(hint)
            listed_ones = ", ".join(sorted(adapter.providers))
            yield f"{as_typed('adapter')}={adapter.spec}: the adapter lists only {listed_ones}: {problem}"
        if settings.transport != "server" and isinstance(adapter.instance, ProgramAdapter):
            yield (
                f"{as_typed('transport')}={settings.transport}: replays only to adapters in this process, "
                f"not to the program {adapter.spec}; leave the option out"
            )
        if settings.isolation == "namespace" and adapter.isolation != "namespace":
            why = adapter.program.refused if adapter.program else ""
            yield (
                f"{as_typed('isolation')}=namespace: this system gives the adapter no network of its own"
                f"{why and f' ({why})'}; leave the option out, and it runs in a process of its own"
            )
    if not 0 < settings.timeout_s <= _LONGEST_S:
        yield f"{as_typed('timeout')}={settings.timeout_s:g}: must be more than 0 seconds and at most {_LONGEST_S}"


def _sharing_an_id(cassettes: Iterable[BareFile]) -> dict[str, list[Path]]:
    """Return the bare cassettes that have the same id, by this id."""
    found: dict[str, list[Path]] = {}
    for file in cassettes:
        found.setdefault(file.id, []).append(file.path)
    return {id: paths for id, paths in found.items() if len(paths) > 1}


def _deviations(settings: Settings, paths: Sequence[Path], elsewhere: Collection[str]) -> Deviations:
    if not paths:
        return Deviations()
    rules = settings.rules
    ids = {*settings.ids(), *(file.id for file in settings.bare)}
    try:
        listed: list[Deviation] = []
        problems: list[FileProblem] = []
        for path in paths:
            try:
                listed += deviations_file.load(path, rules, ids, elsewhere)
            except BadFileError as bad:
                problems += bad.problems
        if problems:
            raise BadFileError(*problems)
        searched = {id for id, rule in rules.items() if rule.vary_cuts}
        return deviations.for_run(listed, settings.adapters, searched, settings.effort, elsewhere)
    except BadFileError as bad:
        raise pytest.UsageError(
            f"{bad}\n{counted(len(bad.problems), 'problem')} in the deviations; nothing was run"
        ) from bad


def _effort(named: str) -> Effort:
    try:
        return Effort.named(named)
    except ValueError as error:
        raise pytest.UsageError(f"{as_typed('examples')}={named}: must be {error}") from error


def _new_file(option: str, name: str | None, base: Path) -> Path | None:
    if name is None:
        return None
    path = base / name
    if problem := files.why_not_new(path):
        raise pytest.UsageError(f"{as_typed(option)}={path}: {problem}")
    return path


def _public(filters: Filters, adapters: Sequence[AdapterUnderTest]) -> Iterator[BareFile]:
    """Return the fetched recordings of the providers that an adapter of the run lists."""

    def is_wanted(api: Api) -> bool:
        return filters.admits_api(api) and any(each.covers(api) for each in adapters)

    option = f"{as_typed('corpus')}={places.PUBLIC}"
    if not recordings.wanted(is_wanted):
        raise pytest.UsageError(f"{option}: has no recordings of the providers of this run; leave the option out")
    try:
        return recordings.of(is_wanted)
    except recordings.NotFetchedError as error:
        missing = error.missing
        names = [each.name for each in missing] if len(missing) <= _MOST_NAMES else []
        which = "".join(f" {each}" for each in names or [f"--provider={name}" for name in filters.providers])
        raise pytest.UsageError(
            f"{option}: {counted(len(missing), 'package')} with recordings {'is' if len(missing) == 1 else 'are'} not "
            f"in {places.root()}; fetch what is missing with\n  llm-conformance corpus fetch{which}"
        ) from error


def _directories(option: str, names: Iterable[str], base: Path) -> list[Path]:
    """Return the directories that an option names."""
    found = [base / name for name in names]
    problems = [f"{as_typed(option)}={path}: {problem}" for path in found if (problem := _unusable(path))]
    if problems:
        raise pytest.UsageError("\n".join(problems))
    return found


def _without_nested(found: Iterable[Path]) -> list[Path]:
    """Return the directories without those inside another one, so that no file is judged twice."""
    kept: list[Path] = []
    for path in sorted(path.resolve() for path in found):  # a directory sorts before what it contains
        if not any(path.is_relative_to(other) for other in (CASSETTES.resolve(), *kept)):
            kept.append(path)
    return kept


def _unusable(path: Path) -> str | None:
    """Return why a path cannot be a cassette directory, or None if it can."""
    if path.is_file():
        return "is a file; name its directory"
    if not path.is_dir():
        return "no such directory"
    is_there = any(load.cassettes_below(path))
    return None if is_there else "contains no cassette (*.yaml, *.yml, *.json, *.har, each also with .gz)"
