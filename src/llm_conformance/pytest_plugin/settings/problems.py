"""What is wrong with the settings of a run, as messages for the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from llm_conformance import editions
from llm_conformance.adapter import unknown_providers
from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.calling.program import ProgramAdapter
from llm_conformance.judging.plan import Filters
from llm_conformance.options import as_typed
from llm_conformance.pytest_plugin.settings.settings import Settings
from llm_conformance.scenarios import core_faults
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.wire import named_cuts
from llm_conformance.wording import did_you_mean, did_you_mean_rule, did_you_mean_scenario, no_such

_LONGEST_S = 3600


def problems_of(settings: Settings) -> Iterator[str]:
    """Yield a message for each unknown name, each value out of its range and each option that cannot be followed."""
    if settings.edition not in editions.EDITIONS:
        yield (
            f"{as_typed('edition')}={settings.edition}: no such edition; this version of the suite has "
            f"{', '.join(editions.EDITIONS)}"
        )
    yield from _of_filters(settings)
    for id, paths in _sharing_an_id(settings.bare).items():
        where = " and of ".join(map(str, paths))
        yield f"{as_typed('cassettes')}: {id} is the id of {where}; rename a directory or a file"
    for adapter in settings.adapters:
        yield from _of_adapter(settings, adapter)
    if not 0 < settings.timeout_s <= _LONGEST_S:
        yield f"{as_typed('timeout')}={settings.timeout_s:g}: must be more than 0 seconds and at most {_LONGEST_S}"


def _of_filters(settings: Settings) -> Iterator[str]:
    filters = settings.filters
    for wanted in filters.rules:
        if not any(map(Filters(rules=[wanted]).judges, settings.rules.values())):
            problem = no_such("rule", did_you_mean_rule(wanted, settings.rules), "llm-conformance list rules")
            yield f"{as_typed('rule')}={wanted}: {problem}"
    providers = unknown_providers.names()
    for wanted in filters.providers:
        if wanted not in providers:
            problem = unknown_providers.message(did_you_mean(wanted, providers))
            yield f"{as_typed('provider')}={wanted}: {problem}"
    for pattern in filters.scenarios:
        if not settings.bare and not any(Filters(scenarios=[pattern]).admits_id(id) for id in settings.ids()):
            hint = did_you_mean_scenario(pattern, settings.ids())
            problem = no_such("scenario", hint, core_faults.list_command(pattern))
            yield f"{as_typed('scenario')}={pattern}: {problem}"
    if filters.cuts and not named_cuts.is_well_formed(filters.cuts):
        yield f"{as_typed('cuts')}={filters.cuts}: must be byte offsets (12,57), / and a number of bytes (/3), or none"


def _of_adapter(settings: Settings, adapter: AdapterUnderTest) -> Iterator[str]:
    hint = next(filter(None, unknown_providers.hints(adapter).values()), "")
    if hint and adapter.providers.isdisjoint(unknown_providers.names()):
        listed = ", ".join(sorted(adapter.providers))
        problem = unknown_providers.message(hint)
        yield f"{as_typed('adapter')}={adapter.spec}: the adapter lists only {listed}: {problem}"
    else:
        for name, hint in unknown_providers.misspelt(adapter).items():
            problem = unknown_providers.message(hint)
            yield f"{as_typed('adapter')}={adapter.spec}: the adapter lists {name}: {problem}"
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


def _sharing_an_id(cassettes: Iterable[BareFile]) -> dict[str, list[Path]]:
    """Map each id that several bare cassettes have to these cassettes."""
    found: dict[str, list[Path]] = {}
    for file in cassettes:
        found.setdefault(file.id, []).append(file.path)
    return {id: paths for id, paths in found.items() if len(paths) > 1}
