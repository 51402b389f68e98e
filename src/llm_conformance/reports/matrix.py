"""What reports say in numbers: cells by adapter, provider and rule or family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.rules.catalogue import FAMILIES

RED = (Status.FAIL, Status.STALE, Status.ERROR)
JUDGED = (Status.PASS, Status.EXPECTED, *RED)

Counts = Counter[str]
"""How many cells have which status."""


def by_family(document: Document, adapter: str) -> Mapping[str, Mapping[str, Counts]]:
    """Return the counts of an adapter by provider (`provider:api`) and family of rules, both in order."""
    found: dict[str, dict[str, Counts]] = {}
    for result in document["results"]:
        if result["adapter"] == adapter:
            row = found.setdefault(f"{result['provider']}:{result['api']}", {})
            row.setdefault(result["rule"].partition("-")[0], Counter())[result["status"]] += 1
    return {row: {each: found[row][each] for each in FAMILIES if each in found[row]} for row in sorted(found)}


def statuses(document: Document, adapter: str) -> Counts:
    """Return how many cells of an adapter have which status."""
    return Counter(each["status"] for each in document["results"] if each["adapter"] == adapter)


def passed_and_judged(counts: Counts) -> tuple[int, int]:
    """Return how many cells pass, and how many were judged: what is known to fail does not pass."""
    return counts[Status.PASS], sum(counts[status] for status in JUDGED)


def brief(counts: Counts) -> str:
    """Return what a cell of a matrix says: `passed/judged`, the one number if all pass, or why nothing was judged."""
    passed, judged = passed_and_judged(counts)
    if judged:
        return str(passed) if passed == judged else f"{passed}/{judged}"
    if counts[Status.UNSUPPORTED]:
        return "unsup."
    return "vacuous" if counts[Status.VACUOUS] else "-"


def verdict(document: Document) -> str:
    """Return in a word or two what a report says of its adapters."""
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
