"""Numbers of cells by adapter, API, family of rules and status, and the verdict of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from llm_conformance.judging.status import PROBES, Status
from llm_conformance.reports.document import Document
from llm_conformance.rules.catalogue import FAMILIES

RED = (Status.FAIL, Status.STALE, Status.ERROR)
JUDGED = (Status.PASS, Status.EXPECTED, *RED)

Counts = Counter[str]
"""The number of cells by status."""


def by_family(document: Document, adapter: str) -> Mapping[str, Mapping[str, Counts]]:
    """Return the counts of an adapter by API (`provider:api`, sorted) and family of rules (in order)."""
    found: dict[str, dict[str, Counts]] = {}
    for result in document["results"]:
        if result["adapter"] == adapter:
            families = found.setdefault(f"{result['provider']}:{result['api']}", {})
            families.setdefault(result["rule"].partition("-")[0], Counter())[result["status"]] += 1
    return {api: {each: found[api][each] for each in FAMILIES if each in found[api]} for api in sorted(found)}


def statuses(document: Document, adapter: str) -> Counts:
    """Return the number of cells of an adapter by status."""
    return Counter(each["status"] for each in document["results"] if each["adapter"] == adapter)


def passed_and_judged(counts: Counts) -> tuple[int, int]:
    """Return how many cells pass and how many were judged. A known deviation was judged, and does not pass."""
    return counts[Status.PASS], sum(counts[status] for status in JUDGED)


def brief(counts: Counts) -> str:
    """Return the text of a field of the matrix: `passed/judged`, one number if all pass, or why none was judged.

    Probes are not counted.
    """
    passed, judged = passed_and_judged(counts)
    if judged:
        return str(passed) if passed == judged else f"{passed}/{judged}"
    if any(counts[each] for each in PROBES):
        return "probes"
    if counts[Status.UNSUPPORTED]:
        return "unsup."
    return "vacuous" if counts[Status.VACUOUS] else "-"


def verdict(document: Document) -> str:
    """Return the verdict of a report in one to three words."""
    counts: Counts = Counter(document["summary"])
    if not document["complete"]:
        return "partial"
    if counts[Status.ERROR]:
        return "suite error"
    if counts[Status.FAIL] or counts[Status.STALE]:
        return "failing"
    if not counts[Status.PASS] + counts[Status.EXPECTED]:
        return "nothing judged"
    known = len({(each["path"], each["line"]) for each in document["deviations"] if each["status"] == Status.EXPECTED})
    return f"{known} known deviation{'s' * (known != 1)}" if counts[Status.EXPECTED] else "conforms"
