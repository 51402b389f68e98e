"""Read the options of a run, and load all that they name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from llm_conformance.adapter import loader
from llm_conformance.adapter.declarations import AdapterUnderTest, BadAdapterError, Isolation
from llm_conformance.adapter.loader import isolation
from llm_conformance.corpus import manifest, places, recordings
from llm_conformance.judging import deviations, deviations_file
from llm_conformance.judging.deviations import Deviation, Deviations
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.plan import Filters
from llm_conformance.locations import CASSETTES, RULES
from llm_conformance.options import as_typed
from llm_conformance.pytest_plugin.settings import directories
from llm_conformance.pytest_plugin.settings.problems import problems_of
from llm_conformance.pytest_plugin.settings.settings import Settings
from llm_conformance.reports import files
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.scenarios import bare, core_faults, lint, load
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.scenarios.scenario import Scenario, as_it_arrived
from llm_conformance.wire.providers.api import Api
from llm_conformance.wording import counted
from llm_conformance.yaml_files import BadFileError, FileProblem

_MOST_NAMES = 5


def read(config: pytest.Config) -> Settings:
    """Read the options and load what they name.

    Raises pytest.UsageError with all problems of the first kind of option or file that has problems.
    """
    opened: list[AdapterUnderTest] = []
    try:
        return _read(config, opened)
    except BaseException:
        for adapter in opened:
            adapter.close()
        raise


def _read(config: pytest.Config, opened: list[AdapterUnderTest]) -> Settings:
    """Do the same as `read`. Add each adapter to `opened`, so that `read` can close it if something else is wrong."""
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
        own = directories.named("cassettes", option("conformance_cassettes"), directory)
        own = directories.without_nested(
            [*own, *directories.named("corpus", (n for n in corpora if n != places.PUBLIC), directory)]
        )
        transport = option("conformance_transport")
        isolation = _isolation(option("conformance_isolation"), transport)
        adapters = loader.load_all(option("conformance_adapter"), directory, isolation)
        opened += adapters
        found = {folder: load.find(folder) for folder in (CASSETTES, *own)}
        of_own = [bare.file_in(path, folder) for folder in own for path in found[folder][1]]
        to_check = [] if hasattr(config, "workerinput") else [each for each in of_own if filters.may_admit(each.id)]
        loaded = _load({folder: files for folder, (files, _) in found.items()}, _admits(filters, adapters), to_check)
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
    problems = list(problems_of(settings))
    if problems:
        raise pytest.UsageError("\n".join(problems))
    # A run of a part of the suite reads only a part of the corpus.
    has_all = places.PUBLIC in corpora and not filters.given
    elsewhere = () if has_all else [package.name for package in manifest.packages()]
    known = _deviations(settings, [directory / name for name in option("conformance_deviations")], elsewhere)
    return replace(settings, deviations=known)


def _load(
    found: Mapping[Path, Sequence[Path]], admits: Callable[[Path], bool], cassettes: Iterable[BareFile]
) -> list[Scenario]:
    """Return the scenarios of files that were `found` in directories.

    Raises BadFileError with the problems of all scenarios and bare cassettes.
    """
    problems: list[FileProblem] = []
    loaded: list[Scenario] = []
    try:
        loaded += lint.load_all(found, admits, found=found)
    except BadFileError as bad:
        problems += bad.problems
    problems += bare.problems(cassettes)
    if problems:
        raise BadFileError(*problems)
    return loaded


def _isolation(named: str, transport: str) -> Isolation:
    """Return where adapters run. Raises pytest.UsageError if that is impossible."""
    try:
        return isolation(named, transport)
    except ValueError as error:
        raise pytest.UsageError(f"{as_typed('isolation')}={named}: {error}") from error


def _admits(filters: Filters, adapters: Iterable[AdapterUnderTest]) -> Callable[[Path], bool]:
    """Return a function that returns True if this run uses a scenario file, or if only reading the file can tell."""

    @functools.cache
    def may_use_core_faults() -> bool:
        return any(map(filters.admits_id, core_faults.possible_ids()))

    def is_used(path: Path) -> bool:
        is_named = filters.admits_id(load.id_of(path))
        if not (is_named or may_use_core_faults()):
            return False
        api = load.api_of(path)
        is_covered = api is None or (filters.admits_api(api) and any(each.covers(api) for each in adapters))
        return is_covered and (is_named or any(map(filters.admits_id, core_faults.ids_in(path))))

    return is_used


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
    """Yield the fetched recordings of the providers that an adapter of the run lists."""

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
