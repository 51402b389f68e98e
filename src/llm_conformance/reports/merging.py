"""Merge the reports of shards into the report that a single run would have written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llm_conformance.judging.deviations import stale_parts
from llm_conformance.judging.plan import DESELECTED
from llm_conformance.judging.status import Status
from llm_conformance.judging.tally import NO_RECORDING_BY_NAME
from llm_conformance.reports import conversations, counterexamples, judged
from llm_conformance.reports.document import Document
from llm_conformance.reports.findings import findings

Key = tuple[str, ...]

_KEY = ("adapter", "rule", "scenario", "mode", "method")
_UNSEEN = (Status.VACUOUS, Status.UNSUPPORTED)
_ALIKE = {
    "suite": "they are of different versions of the suite",
    "adapters": "they are of different adapters, versions or capabilities",
    "effort": "the numbers of generated examples differ (--conformance-examples)",
    "edition": "they were judged by different editions of the suite (--conformance-edition)",
    "transport": "they were replayed in different ways (--conformance-transport)",
    "probes": "only some judge probes like all other scenarios (--conformance-probes)",
}


class NotOfOneRunError(Exception):
    """The reports are not shards of one run; the message says how they differ."""


def merge(documents: Sequence[Document]) -> Document:
    """Return one report of all shards. Raises NotOfOneRunError unless they are shards of one run."""
    first = documents[0]
    for name, problem in _ALIKE.items():
        for number, other in enumerate(documents[1:], start=2):
            if other[name] != first[name]:
                raise NotOfOneRunError(f"report 1 and report {number} are not shards of one run: {problem}")
    planned = {each["items"]["planned"] for each in documents}
    if len(planned) > 1 or len({_listed(each) for each in documents}) > 1:
        raise NotOfOneRunError("they are not shards of one run: tests or known deviations differ")
    results = _results(documents)
    done = sum(each["items"]["done"] for each in documents)
    restricted = any(each["items"]["restricted"] for each in documents)
    bare = _bare(documents)
    not_asked = [each for document in documents for each in document["not_asked"]]
    is_whole = not restricted and not not_asked and done == first["items"]["planned"]
    deviations = _deviations(documents, is_whole)
    stale = {at for at, each in enumerate(deviations) if each["status"] == Status.STALE}
    for result in results.values():
        named = {result.get("deviation"), *result.get("further_deviations", ())}
        if result["status"] == Status.PASS and not named.isdisjoint(stale):
            result |= {"status": Status.STALE.value, "message": "a known deviation, but it passes"}
    summary = Counter(each["status"] for each in results.values())
    summary[Status.STALE] += len(
        stale - {each.get("deviation") for each in results.values() if each["status"] == "stale"}
    )
    faults = sum(each["items"]["faults"] for each in documents)
    summary[Status.ERROR] += faults
    exchanges = {(e["adapter"], e["scenario"], e["method"]): e for each in documents for e in each["exchanges"]}
    found = {each["id"]: each["files"] for document in documents for each in document.get("counterexamples", ())}
    tally = conversations.tally_of(results.values())
    rows = conversations.counts(tally.conversations)
    is_complete = is_whole and first["examples"] > 0 and not bare["bad_files"] and not tally.too_busy
    return {
        **first,
        "judged": [judged.of_results(each, rows, results.values()).to_dict() for each in first["adapters"]],
        "findings": [each.to_dict() for each in findings(results.values())],
        "conversations": rows,
        "results": list(results.values()),
        "not_asked": not_asked,
        "excluded_inputs": _excluded(documents),
        "exchanges": [exchanges[name] for name in sorted(exchanges)],
        "counterexamples": counterexamples.listed(found),
        "deviations": deviations,
        "summary": {status: count for status, count in sorted(summary.items()) if count},
        "bare_recordings": bare,
        "items": {"planned": first["items"]["planned"], "done": done, "restricted": restricted, "faults": faults},
        "finished": max(each["finished"] for each in documents),
        "complete": is_complete,
        "partial": [] if is_complete else _why_partial(documents, done),
    }


def _why_partial(documents: Sequence[Document], done: int) -> list[str]:
    """Return why the merged run is partial. Items that a shard left to other shards are no reason."""
    found = dict.fromkeys(each for document in documents for each in document.get("partial", ()))
    found.pop(DESELECTED, None)
    planned = documents[0]["items"]["planned"]
    missing = [f"only {done} of {planned} test items were done"] if done != planned else []
    return [*found, *missing]


def _listed(document: Document) -> str:
    return repr([{**each, "status": "", "decides": "", "path": ""} for each in document["deviations"]])


def _results(documents: Sequence[Document]) -> dict[Key, Document]:
    """Return all results by cell. Every shard has the results that need no call. Any other result is in one shard."""
    found: dict[Key, Document] = {}
    for document in documents:
        for result in document["results"]:
            key = tuple(result[name] for name in _KEY)
            before = found.get(key)
            if before is None:
                found[key] = dict(result)
            elif before["status"] not in _UNSEEN or result["status"] not in _UNSEEN:
                raise NotOfOneRunError(f"they overlap: {' '.join(key)} is in two shards")
    return found


def _deviations(documents: Sequence[Document], is_whole: bool) -> list[Document]:
    """Return the deviations. If `is_whole`, those that name no failing cell are stale."""
    listed, alive = [], set()
    for at, versions in enumerate(zip(*(each["deviations"] for each in documents), strict=True)):
        statuses = {each["status"] for each in versions}
        status = Status.EXPECTED.value if Status.EXPECTED in statuses else versions[0]["status"]
        decides = all(each["decides"] for each in versions)
        if status == Status.EXPECTED or not decides:
            alive.add(at)
        listed.append({**versions[0], "status": status, "decides": decides})
    applying = {at: each for at, each in enumerate(listed) if each["status"] != "for others"}
    for at in stale_parts(applying, alive & applying.keys()) if is_whole else ():
        listed[at]["status"] = Status.STALE.value
    return listed


def _excluded(documents: Sequence[Document]) -> list[Document]:
    found: dict[tuple[str, ...], Document] = {}
    for each in (each for document in documents for each in document.get("excluded_inputs", ())):
        key = (each["adapter"], each["provider"], each["api"], each["way"])
        found[key] = {**each, "examples": each["examples"] + found.get(key, {"examples": 0})["examples"]}
    return [found[key] for key in sorted(found)]


def _bare(documents: Sequence[Document]) -> Mapping[str, Any]:
    reports = [each["bare_recordings"] for each in documents]
    not_covered_at = _by_adapter(each["not_covered_at"] for each in reports)
    return {
        "seen": sum(each["seen"] for each in reports),
        "asked": _added(each["asked"] for each in reports),
        "cannot_be_asked": _by_adapter(each["cannot_be_asked"] for each in reports),
        "out_of_scope": _added(each["out_of_scope"] for each in reports),
        "not_covered": {adapter: sum(places.values()) for adapter, places in not_covered_at.items()},
        "not_covered_at": not_covered_at,
        "other_files": _other_files([each["other_files"] for each in reports]),
        "bad_files": sorted({file for each in reports for file in each["bad_files"]}),
    }


def _by_adapter(parts: Iterable[Mapping[str, Mapping[str, int]]]) -> Mapping[str, Mapping[str, int]]:
    """Return the sums of counts, by adapter and then by name."""
    listed = list(parts)
    adapters = sorted({adapter for part in listed for adapter in part})
    return {adapter: _added(part.get(adapter, {}) for part in listed) for adapter in adapters}


def _added(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(sorted(total.items()))


def _other_files(parts: Sequence[Mapping[str, int]]) -> Mapping[str, int]:
    by_name = max((part.get(NO_RECORDING_BY_NAME, 0) for part in parts), default=0)
    return _added(parts) | ({NO_RECORDING_BY_NAME: by_name} if by_name else {})
