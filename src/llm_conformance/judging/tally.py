"""What a run's verdicts add up to.

A run over thousands of bare recordings has far more verdicts than a terminal shows: they are counted as they come, and
kept whole only where a report will list them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict

Key = tuple[str, str, str, str, str]
"""(adapter, provider:api, family of the invariant, evidence, status)"""


@dataclass
class Tally:
    """Counts of verdicts, and of what was not judged.

    Attributes:
        keeps: Whether verdicts are kept whole, in `verdicts`.
        counts: How many verdicts there are of each `Key`.
        items: How many test items have come back with their verdicts.
        recordings: How many bare recordings were looked at.
        not_covered: By adapter, recordings of APIs that it does not list.
        out_of_scope: By reason, recordings that nobody can be judged by.
        bad_files: Bare cassettes that could not be read, as problems with file and line.
        named: How many verdicts of a `Key` each known deviation names, by its position.
        exchanges: What was sent and what came back, for reports (`llm_conformance.judging.evidence`), by
            what it is called.
    """

    keeps: bool
    verdicts: list[Verdict] = field(default_factory=list)
    counts: Counter[Key] = field(default_factory=Counter)
    items: int = 0
    recordings: int = 0
    not_covered: Counter[str] = field(default_factory=Counter)
    out_of_scope: Counter[str] = field(default_factory=Counter)
    bad_files: list[str] = field(default_factory=list)
    named: Counter[tuple[int, Key]] = field(default_factory=Counter)
    exchanges: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Count verdicts."""
        for each in verdicts:
            row, family = f"{each.provider}:{each.api}", each.rule.partition("-")[0]
            key = (each.adapter, row, family, each.provenance, each.status)
            self.counts[key] += 1
            if each.deviation is not None:
                self.named[each.deviation, key] += 1
            if self.keeps:
                self.verdicts.append(each)

    def add_fault(self) -> None:
        """Count a fault of the suite's own that belongs to no cell."""
        self.counts["", "", "", "", Status.ERROR] += 1

    @property
    def faults(self) -> int:
        """How many faults of the suite's own belong to no cell."""
        return self.counts["", "", "", "", Status.ERROR]

    @property
    def borne_out(self) -> frozenset[int]:
        """The positions of the known deviations that a failing cell bears out."""
        return frozenset(at for at, key in self.named if key[-1] == Status.EXPECTED)

    def mark_stale(self, positions: Collection[int]) -> None:
        """Turn what passes, and is named by these known deviations, from green into stale; one at least of each."""
        for (at, key), count in self.named.items():
            if at in positions and key[-1] == Status.PASS:
                self.counts[key] -= count
                self.counts[(*key[:-1], Status.STALE.value)] += count
        passed = {at for at, key in self.named if key[-1] == Status.PASS}
        self.counts["", "", "", "", Status.STALE] += len(set(positions) - passed)
        self.verdicts = [
            replace(each, status=Status.STALE.value, message="a known deviation, but it passes")
            if each.deviation in positions and each.status == Status.PASS
            else each
            for each in self.verdicts
        ]

    @property
    def summary(self) -> Counter[str]:
        """How many cells have which status."""
        total: Counter[str] = Counter()
        for (_, _, _, _, status), count in self.counts.items():
            total[status] += count
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values, to be sent from one process to another."""
        return {
            "counts": [[*key, count] for key, count in self.counts.items()],
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            "items": self.items,
            "recordings": self.recordings,
            "not_covered": dict(self.not_covered),
            "out_of_scope": dict(self.out_of_scope),
            "bad_files": self.bad_files,
            "named": [[at, *key, count] for (at, key), count in self.named.items()],
            "exchanges": self.exchanges,
        }

    def absorb(self, sent: Mapping[str, Any]) -> None:
        """Add what another process, or a test item, sent by `to_dict`."""
        for *key, count in sent["counts"]:
            self.counts[tuple(key)] += count
        self.verdicts += (Verdict(**verdict) for verdict in sent["verdicts"])
        self.items += sent["items"]
        self.recordings += sent["recordings"]
        self.not_covered.update(sent["not_covered"])
        self.out_of_scope.update(sent["out_of_scope"])
        self.bad_files += sent["bad_files"]
        for at, *key, count in sent["named"]:
            self.named[at, tuple(key)] += count
        self.exchanges |= sent["exchanges"]
