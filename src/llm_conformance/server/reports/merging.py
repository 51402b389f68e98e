"""Merge reports on parts of a run, such as some conversations or one mode, into the report of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance.judging.deviations import Deviation
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.reports.comparing import Cell
from llm_conformance.reports.document import Document
from llm_conformance.reports.merging import NotOfOneRunError
from llm_conformance.server import plan
from llm_conformance.server.findings import findings, not_judged
from llm_conformance.server.judge import known_of, made, place, stale_of
from llm_conformance.server.reports.exchanges import EXAMPLES
from llm_conformance.server.reports.result import judged

_ALIKE = {
    "suite": "they are of different versions of the suite",
    "server": "they are of different servers, wire formats, models or capabilities",
    "edition": "they were judged by different editions of the suite (--edition)",
    "planned": "they plan different numbers of results, so they are of different versions of the suite",
}


def merge(documents: Sequence[Document]) -> Document:
    """Return one report of all parts. Raises NotOfOneRunError unless they are parts of one run."""
    first = documents[0]
    for name, problem in _ALIKE.items():
        for number, other in enumerate(documents[1:], start=2):
            if other[name] != first[name]:
                raise NotOfOneRunError(f"report 1 and report {number} are not parts of one run: {problem}")
    if len({_listed(each) for each in documents}) > 1:
        raise NotOfOneRunError("they are not parts of one run: the known deviations differ")
    by_cell = _results(documents)
    verdicts = sorted((_verdict(each, first["server"]) for each in by_cell.values()), key=place)
    results = [by_cell[each.rule, each.scenario, each.mode] for each in verdicts]
    is_whole = len(results) == first["planned"]
    deviations = list(_deviations(documents, verdicts, is_whole))
    stale = sum(each["status"] == Status.STALE for each in deviations)
    found = _findings(documents, verdicts)
    counts = Counter(each["status"] for each in results) + Counter({Status.STALE.value: stale})
    return {
        **first,
        "calls": judged(verdicts),
        "findings": found,
        "exchanges": list(_exchanges(documents, found)),
        "not_judged": {rule: dict(reasons) for rule, reasons in not_judged(verdicts)},
        "results": results,
        "deviations": deviations,
        "summary": dict(sorted(counts.items())),
        "complete": is_whole,
        "finished": max(each["finished"] for each in documents),
    }


def _listed(document: Document) -> str:
    return repr([{**each, "status": "", "path": ""} for each in document["deviations"]])


def _results(documents: Sequence[Document]) -> dict[Cell, Document]:
    """Return all results by cell. Raises NotOfOneRunError if a cell is in two parts."""
    found: dict[Cell, Document] = {}
    for each in (each for document in documents for each in document["results"]):
        cell = (each["rule"], each["conversation"], each["mode"])
        if cell in found:
            raise NotOfOneRunError(f"they overlap: {' '.join(cell)} is in two reports")
        found[cell] = each
    return found


def _verdict(result: Mapping[str, Any], server: Mapping[str, Any]) -> Verdict:
    return made(
        url=server["url"],
        api=server["api"],
        rule=result["rule"],
        label=result["conversation"].partition("/")[2],
        mode=result["mode"],
        status=result["status"],
        message=result.get("message"),
        cause=result.get("cause"),
        deviation=result.get("deviation"),
    )


def _deviations(documents: Sequence[Document], verdicts: Sequence[Verdict], is_whole: bool) -> Iterator[Document]:
    """Yield the known deviations. If the merged report is complete, deviations that name no failure are stale."""
    listed = documents[0]["deviations"]
    seen = {at for each in documents for at, one in enumerate(each["deviations"]) if one["status"] == Status.EXPECTED}
    known = known_of(documents[0]["server"]["url"], [_deviation(each) for each in listed])
    stale = set(stale_of(known, verdicts, seen)) if is_whole else set()
    for at, each in enumerate(listed):
        status = Status.EXPECTED.value if at in seen else Status.STALE.value if at in stale else "not seen"
        yield {**each, "status": status}


def _deviation(listed: Mapping[str, Any]) -> Deviation:
    names = ("line", "rule", "scenario", "reason", "link", "mode", "message", "sometimes")
    return Deviation(path=Path(listed["path"]), **{name: listed[name] for name in names if name in listed})


def _findings(documents: Sequence[Document], verdicts: Sequence[Verdict]) -> list[Document]:
    """Return the findings of all parts. Findings with the same rule and cause become one."""
    told = {(each["rule"], *at): each for part in documents for each in part["findings"] for at in each["failures"]}
    return [
        {
            **told[each.rule, each.example.scenario, each.example.mode],
            "failures": [[one.scenario, one.mode] for one in each.failures],
        }
        for each in findings(verdicts)
    ]


def _exchanges(documents: Sequence[Document], findings: Sequence[Document]) -> Iterator[Document]:
    """Yield the exchanges of the first failures of each finding, each once."""
    wanted = {tuple(at) for each in findings for at in each["failures"][:EXAMPLES]}
    there = {(each["conversation"], each["mode"]): each for part in documents for each in part["exchanges"]}
    api = documents[0]["server"]["api"]
    for at in sorted(wanted & there.keys(), key=lambda at: plan.place(api, at[0].partition("/")[2], at[1])):
        yield there[at]
