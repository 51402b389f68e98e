"""How many of the judged conversations are right, the number of cells by status, and the verdict of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.judging.status import Status, exit_code
from llm_conformance.reports.document import Document
from llm_conformance.reports.findings import PROVENANCES
from llm_conformance.rules.catalogue import FAMILIES
from llm_conformance.wording import counted

Counts = Counter[str]
"""The number of cells by status."""


ALL = "all"
GENERATED = "generated"


@dataclass(frozen=True)
class Right:
    """How many conversations were judged, and in how many of them nothing fails."""

    right: int = 0
    judged: int = 0

    def __add__(self, other: Right) -> Right:
        """Return the sum of both."""
        return Right(self.right + other.right, self.judged + other.judged)

    def __str__(self) -> str:
        """Return `right/judged`, one number if all are right, and `-` if none was judged."""
        if not self.judged:
            return "-"
        return str(self.right) if self.right == self.judged else f"{self.right}/{self.judged}"


class Matrix:
    """The conversations of one adapter by API and family of rules; generated ones have a column of their own.

    A matrix is made from the `conversations` of a report.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], adapter: str) -> None:
        self._fields: dict[tuple[str, str], Right] = {}
        by_provenance: dict[str, Right] = {}
        for row in rows:
            if row["adapter"] != adapter:
                continue
            count, is_generated = Right(row["right"], row["judged"]), row["provenance"] == GENERATED
            if row["family"] is None:
                by_provenance[row["provenance"]] = by_provenance.get(row["provenance"], Right()) + count
            if row["family"] is None or not is_generated:
                key = f"{row['provider']}:{row['api']}", GENERATED if is_generated else row["family"] or ALL
                self._fields[key] = self._fields.get(key, Right()) + count
        self.by_provenance = {each: by_provenance[each] for each in PROVENANCES if each in by_provenance}

    @property
    def apis(self) -> list[str]:
        """The APIs with a judged conversation, sorted."""
        return sorted({api for api, _ in self._fields})

    @property
    def written(self) -> Right:
        """The conversations that were not generated."""
        return sum((each for name, each in self.by_provenance.items() if name != GENERATED), Right())

    @property
    def generated(self) -> Right:
        """The generated conversations. A theme of an API in one mode counts as one conversation."""
        return self.by_provenance.get(GENERATED, Right())

    def of_judged(self, provenance: Mapping[str, int]) -> str:
        """Return in how many judged conversations a finding occurs. `provenance` has the finding's own counts."""
        touched = Counter(provenance)
        generated = touched.pop(GENERATED, 0)
        written = f"{touched.total()} of {self.written.judged} conversations" if touched else ""
        drawn = f"{generated} of {self.generated.judged} generated" if generated else ""
        return " and ".join(filter(None, (written, drawn)))

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are not empty."""
        present = {column for _, column in self._fields}
        return [each for each in (ALL, *FAMILIES, GENERATED) if each in present]

    @property
    def rows(self) -> Mapping[str, list[Right]]:
        """Maps each API to its fields, in the order of the columns. The APIs are sorted."""
        columns = self.columns
        return {api: [self._fields.get((api, column), Right()) for column in columns] for api in self.apis}


def by_family(document: Document, adapter: str) -> Mapping[str, Mapping[str, Counts]]:
    """Return the counts of an adapter by API (`provider:api`, sorted), and then by family of rules (in order)."""
    found: dict[str, dict[str, Counts]] = {}
    for result in document["results"]:
        if result["adapter"] == adapter:
            families = found.setdefault(f"{result['provider']}:{result['api']}", {})
            families.setdefault(result["rule"].partition("-")[0], Counter())[result["status"]] += 1
    return {api: {each: found[api][each] for each in FAMILIES if each in found[api]} for api in sorted(found)}


PARTIAL = "partial"

NO_VERDICT: Mapping[str, str] = {
    PARTIAL: "not every rule was applied to every scenario",
    "suite error": "the suite itself failed",
    "nothing judged": "no rule had anything to judge",
    "not all judged": "some calls could not be judged, and no failure says why",
}
"""Maps what `verdict` returns for a report without a verdict to the reason."""


def why_no_verdict(document: Document) -> str:
    """Return why a report has no verdict; "" if it has one."""
    text = verdict(document)
    if text == PARTIAL and document.get("partial"):
        return "; ".join(document["partial"])
    return NO_VERDICT.get(text, "")


def verdict(document: Document) -> str:
    """Return the verdict of a report in a few words, with the number of ways that its adapters exclude.

    It is one of `NO_VERDICT` if the run says nothing about the adapters.
    """
    counts: Counts = Counter(document["summary"])
    if not document["complete"]:
        return PARTIAL
    if counts[Status.ERROR]:
        return "suite error"
    if counts[Status.FAIL] or counts[Status.STALE]:
        return "failing"
    if exit_code(counts) == 1:  # only blocked cells: `failing` would blame the adapter
        return "not all judged"
    if not counts[Status.PASS] + counts[Status.EXPECTED]:
        return "nothing judged"
    known = len({(each["path"], each["line"]) for each in document["deviations"] if each["status"] == Status.EXPECTED})
    text = f"{known} known deviation{'s' * (known != 1)}" if counts[Status.EXPECTED] else "conforms"
    excluded = len({(each["adapter"], each["way"]) for each in document.get("excluded_inputs", ())})
    return f"{text}, {counted(excluded, 'input')} excluded" if excluded else text
