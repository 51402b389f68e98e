"""The differences between two reports: which findings are new or gone, which cells got better, and which got worse.

Some runs draw other inputs each time. A different result for such inputs does not show that the adapter has changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.judging.causes import to_compare
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.status import PROBES, Status
from llm_conformance.options import as_typed
from llm_conformance.reports.document import Document
from llm_conformance.reports.findings import Finding, findings

_RED = frozenset({Status.FAIL.value, Status.ERROR.value})
_WRONG = frozenset({*_RED, Status.EXPECTED.value})
_UNSEEN = frozenset({None, Status.VACUOUS.value, Status.UNSUPPORTED.value})
_NEUTRAL = frozenset({*(each.value for each in PROBES), Status.BLOCKED.value, Status.NEW.value})
"""Statuses that are neither worse nor better than others. For a blocked cell, another cell of the exchange says why."""
_GREEN = frozenset({Status.PASS.value, Status.STALE.value})

Cell = tuple[str, ...]
"""(rule, scenario, method), or (adapter, rule, scenario, method) if a report is about several adapters."""


@dataclass(frozen=True)
class Change:
    """A cell whose status differs between the reports. A status is None if the report does not have the cell.

    `by_chance` says that the two runs drew different inputs for the cell.
    """

    cell: Cell
    before: str | None
    after: str | None
    message: str | None
    by_chance: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether the cell was judged in both reports."""
        return not {self.before, self.after} & (_UNSEEN | _NEUTRAL)

    @property
    def is_worse(self) -> bool:
        """Whether the cell fails now and did not before, or passed before and no longer does.

        A cell is neither worse nor better if it is a probe, blocked or new in one of the reports, or if it differs by
        chance.
        """
        if self.by_chance or {self.before, self.after} & _NEUTRAL:
            return False
        if self.after in _WRONG:
            return self.before not in _WRONG
        return self.before in _GREEN and self.after not in _GREEN

    @property
    def is_better(self) -> bool:
        """Whether the cell passes now and did not before; the exceptions are those of `is_worse`."""
        if self.by_chance or {self.before, self.after} & _NEUTRAL:
            return False
        return self.after in _GREEN and self.before not in _GREEN

    def __str__(self) -> str:
        """Return the cell and its two statuses in one line."""
        message = f": {self.message}" if self.message and self.after in _WRONG else ""
        return f"{' '.join(self.cell)}: {self.before or 'missing'} -> {self.after or 'missing'}{message}"


class NotComparableError(Exception):
    """The reports were made in different ways; the message says how they differ and what to do."""


_ALIKE = {
    "effort": "generated examples per property",
    "edition": "edition",
    "transport": "transport",
    "probes": "probes",
}
"""Maps names in the report to words for what has to be the same in both reports."""
_OPTIONS = {"effort": "examples"}
"""Maps a name in the report to the name of the option, if the two names differ."""


def check_comparable(before: Document, after: Document) -> None:
    """Raise NotComparableError unless both runs had the same effort, edition, transport and treatment of probes.

    Otherwise a difference may come from the runs instead of the adapter.
    """
    differing = [
        f"  {what}: {before[name]} and {after[name]} ({as_typed(_OPTIONS.get(name, name))})"
        for name, what in _ALIKE.items()
        if before[name] != after[name]
    ]
    if differing:
        told = "the reports cannot be compared; they differ in", *differing
        raise NotComparableError("\n".join((*told, "Make one of them again with the options of the other.")))


def explores(document: Document) -> bool:
    """Return True if the run drew inputs that no other run draws."""
    effort = Effort.named(document["effort"])
    return effort.examples > 0 and not effort.reproducible


_KEPT = re.compile(r"/generated-.+-[0-9a-f]{10}$")
"""The ids of generated inputs that somebody kept as files. Every run judges the same ones."""


def _is_drawn(result: Mapping[str, Any]) -> bool:
    """Return True if the inputs of a cell, or the ways to cut its stream, are drawn."""
    if result.get("provenance") == "generated":
        return not _KEPT.search(result["scenario"])
    return "cuts" in (result.get("example") or {})


def compare(before: Document, after: Document) -> Iterator[Change]:
    """Yield every cell whose status differs.

    If each report is of one adapter, the two adapters may have different names.
    """
    several = len(before["adapters"]) > 1 or len(after["adapters"]) > 1
    explored = explores(before)
    old, new = (_by_cell(each, several) for each in (before, after))
    for cell in dict.fromkeys([*old, *new]):
        one, other = old.get(cell, {}), new.get(cell, {})
        by_chance = explored and (_is_drawn(one) or _is_drawn(other))
        change = Change(cell, one.get("status"), other.get("status"), other.get("message"), by_chance)
        if change.before != change.after and not {change.before, change.after} <= _UNSEEN | _NEUTRAL:
            yield change


_LINE = re.compile(r"(?<=:)\d+(?= )")


def compare_findings(before: Document, after: Document, complete: bool) -> tuple[list[Finding], list[Finding]]:
    """Return (findings that are new in `after`, findings only in `before`).

    Findings with the same rule and the same cause are the same, even if an exception comes from a different line of the
    same function. A finding with a further kind, such as another lost finish reason, is new. Unless the reports are
    `complete`, only cells that both reports judged count.
    """
    several = len(before["adapters"]) > 1 or len(after["adapters"]) > 1
    common = _judged(before, several) & _judged(after, several)
    old, new = (
        _by_key(findings(_selected(document, several, common, complete)), several) for document in (before, after)
    )
    added = [found for key, (found, kinds) in new.items() if key not in old or not kinds <= old[key][1]]
    return added, [found for key, (found, _) in old.items() if key not in new]


def _by_key(found: Iterable[Finding], several: bool) -> Mapping[Cell, tuple[Finding, set[str]]]:
    """Return the first finding and all kinds for each cause. Known and unknown failures may share a cause."""
    by_key: dict[Cell, tuple[Finding, set[str]]] = {}
    for each in found:
        text, kinds = to_compare(each.cause, each.kinds)
        key = (each.adapter if several else "", each.rule, _LINE.sub("", text))
        by_key.setdefault(key, (each, set()))[1].update(kinds)
    return by_key


def _judged(document: Document, several: bool) -> frozenset[Cell]:
    unseen = _UNSEEN | _NEUTRAL
    return frozenset(cell for cell, each in _by_cell(document, several).items() if each["status"] not in unseen)


def _selected(
    document: Document, several: bool, common: Collection[Cell], complete: bool
) -> Iterator[Mapping[str, Any]]:
    for cell, each in _by_cell(document, several).items():
        if complete or cell in common:
            yield each


def _by_cell(document: Document, several: bool) -> Mapping[Cell, Mapping[str, Any]]:
    names = ("adapter",) if several else ()
    return {
        tuple(result[name] for name in (*names, "rule", "scenario", "method")): result for result in document["results"]
    }
