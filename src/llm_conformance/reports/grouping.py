"""Group the results that say no more than their status ("quiet" results), for report files and pages.

A report on thousands of recordings has a million passing and vacuous results. Quiet results of one exchange with the
same status and message become one entry, with their rules in `rules`. Every other result is an entry with its rule in
`rule`. A run groups the results before it writes its report. `one_by_one` splits the groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llm_conformance.judging.status import QUIET
from llm_conformance.judging.verdict import ALIKE
from llm_conformance.reports.document import Document, Streamed

_FIELDS = frozenset({*ALIKE, "rule"})


def grouped(document: Document) -> Document:
    """Return a new report, in which the quiet results are grouped."""
    if isinstance(document["results"], Streamed):  # the report of a run is already grouped
        return document
    return {**document, "results": _grouped(document["results"])}


def _grouped(results: Iterable[Document]) -> list[Document]:
    found: list[Document] = []
    groups: dict[tuple[Any, ...], list[str]] = {}
    for each in results:
        if each["status"] not in QUIET or not each.keys() <= _FIELDS:
            found.append(each)
            continue
        key = tuple(each.get(name) for name in ALIKE)
        if key not in groups:
            groups[key] = []
            found.append({"rules": groups[key], **{name: value for name, value in each.items() if name != "rule"}})
        groups[key].append(each["rule"])
    return found


def one_by_one(document: Mapping[str, Any]) -> Document:
    """Return a report with one result for each rule."""
    return {**document, "results": list(_one_by_one(document["results"]))}


def _one_by_one(results: Iterable[Document]) -> Iterator[Document]:
    for each in results:
        if "rules" not in each:
            yield each
            continue
        shared = {name: value for name, value in each.items() if name != "rules"}
        yield from ({"adapter": each["adapter"], "rule": rule, **shared} for rule in each["rules"])
