"""Why a run does not show that an adapter conforms: what it leaves out, or could not judge."""

from __future__ import annotations

from collections.abc import Iterator

from llm_conformance.judging.plan import Filters
from llm_conformance.judging.tally import Tally
from llm_conformance.options import as_typed
from llm_conformance.pytest_plugin.run import Collected
from llm_conformance.pytest_plugin.settings import Settings
from llm_conformance.wording import counted, listed


def reasons(settings: Settings, collected: Collected, judged: Tally) -> Iterator[str]:
    """Yield why a run is partial, each as a few words; nothing if every rule was applied to every scenario."""
    yield from of_recordings(settings, collected, judged)
    if not settings.effort.examples:
        yield f"no generated inputs ({as_typed('examples')}=0)"
    if judged.bad_files:
        yield f"{counted(len(judged.bad_files), 'file')} that cannot be read"
    if judged.too_busy:
        yield f"{counted(len(judged.too_busy), 'call')} not judged, as this machine is too busy"


def of_recordings(settings: Settings, collected: Collected, judged: Tally) -> Iterator[str]:
    """Yield why not every rule was applied to every recording; nothing if every one was."""
    yield from _of_filters(settings.filters)
    if collected.deselected:
        yield "some test items were deselected"
    if not settings.filters.rules and collected.rules != settings.rules.keys():
        yield f"only {len(collected.rules)} of {len(settings.rules)} rules"
    if judged.items != collected.items and not collected.deselected:
        yield f"only {judged.items} of {collected.items} test items were done"
    if judged.not_asked:
        yield "some conversations were not asked, as every call died alike"


def _of_filters(filters: Filters) -> Iterator[str]:
    for noun, names in (
        ("provider", filters.providers),
        ("scenario", filters.scenarios),
        ("rule", filters.rules),
        ("method", filters.methods),
    ):
        if names:
            yield f"only the {noun}{'s' * (len(names) > 1)} {listed(list(names), 'and')}"
    if filters.cuts:
        yield f"streams only cut at {filters.cuts}"
