"""The known deviations of a library, applied to reports that were made without them.

What a library does and how that is judged change at different times. So a library is run without its deviations, and an
entry that is written or reworded later needs no new run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.adapter.libraries import Library
from llm_conformance.corpus.manifest import packages
from llm_conformance.judging import deviations, deviations_file
from llm_conformance.judging.deviations import Deviations
from llm_conformance.judging.effort import NO_EFFORT
from llm_conformance.judging.status import QUIET
from llm_conformance.judging.verdict import Verdict
from llm_conformance.locations import CASSETTES
from llm_conformance.reports.document import Document
from llm_conformance.reports.findings import findings
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios import core_faults, load
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.providers.table import table


def deviations_of(library: Library, report: Document, has_recordings: bool) -> Deviations:
    """Return the known deviations of a library for the adapter of a report.

    Without recordings, deviations that are about recordings do not become stale. Raises BadFileError.
    """
    names = [each.name for each in packages()]
    listed = deviations_file.load(library.deviations, catalogue(), _scenarios(), names)
    short = [replace(each, path=Path(each.path.name)) for each in listed]  # a page depends on no machine
    searched = {id for id, each in catalogue().items() if each.rule.vary_cuts}
    adapters = [_adapter(each) for each in report["adapters"]]
    return deviations.for_run(short, adapters, searched, NO_EFFORT, () if has_recordings else names)


def _adapter(told: Document) -> AdapterUnderTest:
    """Return the adapter that a report describes. It cannot be called."""
    nothing: frozenset[str] = frozenset()
    return AdapterUnderTest(
        told["spec"], told["name"], told["name"], None, told["version"], nothing, nothing, frozenset()
    )


@functools.cache
def _scenarios() -> frozenset[str]:
    paths, _ = load.find(CASSETTES)
    generated = (theme.scenario_id(api) for api in table().values() for theme in THEMES if theme.suits(api))
    faults = (id for path in paths for id in core_faults.ids_in(path))
    return frozenset((*map(load.id_of, paths), *faults, *generated))


def applied(report: Document, known: Deviations) -> Document:
    """Return a report in which the failures that a deviation names, and their findings, are `expected`."""
    results = [known.apply(_verdict(each)).to_dict() for each in report["results"]]
    found = [each.to_dict() for each in findings(results)]
    return {**report, "results": results, "findings": found, "deviations": known.to_dicts()}


def _verdict(result: Document) -> Verdict:
    return Verdict(**{"message": None, **result})


def stale_entries(known: Deviations, reports: Iterable[Document]) -> Iterator[str]:
    """Yield the line and what to remove, as one text, for each entry with a part that names no failure in `reports`."""
    borne_out = {
        at
        for report in reports
        for each in report["results"]
        if each["status"] not in QUIET  # it fails as expected, or could not be judged
        for at in (each.get("deviation"), *each.get("further_deviations", ()))
        if at is not None
    }
    return known.stale_entries(set(known.stale(borne_out)))
