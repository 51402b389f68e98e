"""The counts of a run's verdicts.

A run on thousands of bare recordings has too many verdicts to keep. So the tally counts all verdicts. It always keeps
failures, but it keeps the other verdicts only if a report needs them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

from llm_conformance.adapter.exclusions import THINK_TAGS, excludes_tags_of
from llm_conformance.calling.fair_time import TOO_BUSY
from llm_conformance.judging.status import PROBES, Status
from llm_conformance.judging.verdict import ALIKE, Verdict
from llm_conformance.replay.cell import Callee, Cell

Key = tuple[str, str, str, str, str]
"""(adapter, provider:api, family of the rule, provenance, status)"""

Conversation = tuple[str, str, str, str, str]
"""(adapter, provider:api, provenance, scenario, mode)"""

NotAsked = tuple[str, str, str, str]
"""(adapter, provider:api, method, cause)"""

Alike = tuple[str | None, ...]
"""The fields that verdicts of several rules share: `Verdict.alike`"""

_ALWAYS_KEPT = (Status.FAIL, Status.ERROR, Status.NEW)
_RIGHT = (Status.PASS, Status.STALE)
_WRONG = (Status.FAIL, Status.EXPECTED, Status.ERROR)
_OF_FURTHER = {Status.FAIL.value: Status.EXPECTED.value}
"""Maps the status of a cell to the status under which its further deviations count, if the two differ."""
_UNDECIDED = (*PROBES, Status.BLOCKED, Status.NEW)


NO_RECORDING_BY_NAME = "their names are not those of files with recordings"
"""A reason for files without recordings. It depends only on names, so every shard of a run counts the same files."""


@dataclass
class Tally:
    """Counts of verdicts, and of what was not judged.

    Attributes:
        keeps: Whether the tally keeps all verdicts. It always keeps failures, including those with the status `new`.
        verdicts: The kept verdicts, except those in `quiet`.
        quiet: The kept verdicts that say no more than their status. A run has hundreds of them for each scenario, so
            verdicts that differ only in the rule share an entry: it maps their common fields (`Alike`) to the rules.
        counts: Maps each `Key` to its number of verdicts.
        items: The number of test items that were run.
        recordings: The number of bare recordings that were read.
        not_covered: Maps the label of an adapter to counts: for each host and path of a request, the number of bare
            recordings that the adapter does not cover.
        asked: Maps the label of an adapter to the number of bare recordings for which the suite called its `complete`
            or `stream`.
        cannot_be_asked: Maps the label of an adapter to counts: for each reason, the number of bare recordings for
            which the suite could not call `complete` or `stream`. The cells of these recordings are unsupported.
        out_of_scope: Maps a reason to the number of recordings that cannot be judged.
        other_files: Maps a reason to the number of files in cassette directories that have no recordings.
        bad_files: One text for each bare cassette that cannot be read, with its line and problem.
        named: Maps (position of a known deviation, `Key`) to the number of verdicts that the deviation names.
        conversations: Maps each judged conversation to its families of rules, and each family to True if none of its
            rules fails. A failure that a known deviation names counts as a failure here.
        not_asked: Maps (callee, cause) to conversations, as (scenario, mode). The suite did not call the adapter for
            these conversations, because all earlier calls had failed with the same cause.
        too_busy: The cells that the suite could not judge because the machine was too busy, as (scenario, method).
        outside: Maps a place in an adapter's code to the number of connections that it tried to open outside of calls.
            The suite refused them.
        excluded: Maps (adapter, provider:api, excluded way) to the number of inputs that were not judged.
        counterexamples: Maps the id of a generated scenario that fails to the texts of its files
            (`scenarios.save.texts`).
        exchanges: The details of exchanges for reports (`judging.shown.exchange_details`), by their keys.
    """

    keeps: bool
    verdicts: list[Verdict] = field(default_factory=list)
    quiet: dict[Alike, tuple[str, ...]] = field(default_factory=dict)
    counts: Counter[Key] = field(default_factory=Counter)
    items: int = 0
    recordings: int = 0
    not_covered: dict[str, Counter[str]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    cannot_be_asked: dict[str, Counter[str]] = field(default_factory=dict)
    out_of_scope: Counter[str] = field(default_factory=Counter)
    other_files: Counter[str] = field(default_factory=Counter)
    bad_files: list[str] = field(default_factory=list)
    named: Counter[tuple[int, Key]] = field(default_factory=Counter)
    conversations: dict[Conversation, dict[str, bool]] = field(default_factory=dict)
    not_asked: dict[NotAsked, set[tuple[str, str]]] = field(default_factory=dict)
    too_busy: set[tuple[str, str]] = field(default_factory=set)
    outside: Counter[str] = field(default_factory=Counter)
    excluded: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    exchanges: MutableMapping[str, Mapping[str, Any]] = field(default_factory=dict)
    counterexamples: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Count verdicts."""
        for each in verdicts:
            api, family = f"{each.provider}:{each.api}", each.rule.partition("-")[0]
            key = (each.adapter, api, family, each.provenance, each.status)
            self.counts[key] += 1
            if each.deviation is not None:
                self.named[each.deviation, key] += 1
            for at in each.further_deviations:
                self.named[at, (*key[:-1], _OF_FURTHER.get(each.status, each.status))] += 1
            if each.status in _WRONG or each.status in _RIGHT:
                conversation = (each.adapter, api, each.provenance, each.scenario, each.mode)
                self._judged(conversation, family, each.status in _RIGHT)
            if each.status == Status.BLOCKED and (each.message or "").startswith(TOO_BUSY):
                self.too_busy.add((each.scenario, each.method))
            alike = each.alike
            if alike is None and (self.keeps or each.status in _ALWAYS_KEPT):
                self.verdicts.append(each)
            elif alike is not None and self.keeps:
                self.quiet[alike] = (*self.quiet.get(alike, ()), each.rule)

    @property
    def all_verdicts(self) -> Iterator[Verdict]:
        """All verdicts that are kept, one for each rule."""
        yield from self.verdicts
        for alike, rules in self.quiet.items():
            shared = dict(zip(ALIKE, alike, strict=True))
            yield from (Verdict(rule=rule, **shared) for rule in rules)  # type: ignore[arg-type]  # not None there

    def copy(self) -> Tally:
        """Return a tally to which verdicts can be added without changing this one."""
        return replace(
            self,
            verdicts=list(self.verdicts),
            quiet=dict(self.quiet),
            counts=Counter(self.counts),
            named=Counter(self.named),
            other_files=Counter(self.other_files),
            conversations={each: dict(families) for each, families in self.conversations.items()},
        )

    def _judged(self, conversation: Conversation, family: str, is_right: bool) -> None:
        families = self.conversations.setdefault(conversation, {})
        families[family] = families.get(family, True) and is_right

    def add_not_covered(self, adapter: str, place: str, count: int = 1) -> None:
        """Count a bare recording that an adapter does not cover, by the host and path of its request."""
        self.not_covered.setdefault(adapter, Counter())[place] += count

    def add_asked(self, adapter: str, unsupported: str | None = None) -> None:
        """Count a bare recording: a method was called, or could not be called for the reason `unsupported`."""
        if unsupported is None:
            self.asked[adapter] += 1
        else:
            self.cannot_be_asked.setdefault(adapter, Counter())[unsupported] += 1

    def add_excluded_tags(self, cell: Cell) -> None:
        """Count a cell if its adapter excludes it because of think tags."""
        if cell.runnable and excludes_tags_of(cell.adapter.excluded_inputs, cell.scenario):
            self.excluded[cell.adapter.label, str(cell.scenario.api), THINK_TAGS] += 1

    def add_not_asked(self, callee: Callee, cause: str, scenario: str, mode: str) -> None:
        """Count a conversation for which the callee was not called."""
        self.not_asked.setdefault((*callee, cause), set()).add((scenario, mode))

    def add_fault(self) -> None:
        """Count a fault of the suite that belongs to no cell."""
        self.counts["", "", "", "", Status.ERROR] += 1

    @property
    def faults(self) -> int:
        """The number of faults of the suite that belong to no cell."""
        return self.counts["", "", "", "", Status.ERROR]

    @property
    def borne_out(self) -> frozenset[int]:
        """The positions of the known deviations that name a failing cell."""
        return frozenset(at for at, key in self.named if key[-1] == Status.EXPECTED)

    @property
    def undecided(self) -> frozenset[int]:
        """The positions of the known deviations that name a probe, or a cell that is blocked or `new`."""
        return frozenset(at for at, key in self.named if key[-1] in _UNDECIDED)

    def mark_stale(self, positions: Collection[int]) -> None:
        """Give passing verdicts the status `stale` if a stale deviation names them.

        A stale deviation that names no passing verdict counts as one stale cell.
        """
        for (at, key), count in self.named.items():
            if at in positions and key[-1] == Status.PASS:
                self.counts[key] -= count
                self.counts[(*key[:-1], Status.STALE.value)] += count
        passed = {at for at, key in self.named if key[-1] == Status.PASS}
        self.counts["", "", "", "", Status.STALE] += len(set(positions) - passed)
        self.verdicts = [
            replace(each, status=Status.STALE.value, message="a known deviation names this cell, but it passes")
            if each.status == Status.PASS and not {each.deviation, *each.further_deviations}.isdisjoint(positions)
            else each
            for each in self.verdicts
        ]

    @property
    def summary(self) -> Counter[str]:
        """The number of cells with each status."""
        total: Counter[str] = Counter()
        for (_, _, _, _, status), count in self.counts.items():
            total[status] += count
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as JSON values, to send it to another process."""
        return {
            "counts": [[*key, count] for key, count in self.counts.items()],
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            "quiet": [[*alike, rules] for alike, rules in self.quiet.items()],
            "items": self.items,
            "recordings": self.recordings,
            "not_covered": {adapter: dict(places) for adapter, places in self.not_covered.items()},
            "asked": dict(self.asked),
            "cannot_be_asked": {adapter: dict(reasons) for adapter, reasons in self.cannot_be_asked.items()},
            "out_of_scope": dict(self.out_of_scope),
            "other_files": dict(self.other_files),
            "bad_files": self.bad_files,
            "named": [[at, *key, count] for (at, key), count in self.named.items()],
            "conversations": [[*key, families] for key, families in self.conversations.items()],
            "not_asked": [[*key, sorted(conversations)] for key, conversations in self.not_asked.items()],
            "too_busy": sorted(self.too_busy),
            "outside": dict(self.outside),
            "excluded": [[*key, count] for key, count in self.excluded.items()],
            "exchanges": dict(self.exchanges),
            "counterexamples": self.counterexamples,
        }

    def absorb(self, sent: Mapping[str, Any]) -> None:
        """Add the tally of another process or of a test item; `sent` comes from `to_dict`."""
        for *key, count in sent["counts"]:
            self.counts[tuple(key)] += count
        self.verdicts += (Verdict(**verdict) for verdict in sent["verdicts"])
        for *alike, rules in sent["quiet"]:  # interned, because the same few texts come again and again
            key = tuple(each and sys.intern(each) for each in alike)
            self.quiet[key] = (*self.quiet.get(key, ()), *map(sys.intern, rules))
        self.items += sent["items"]
        self.recordings += sent["recordings"]
        for adapter, places in sent["not_covered"].items():
            for place, count in places.items():
                self.add_not_covered(adapter, place, count)
        self.asked.update(sent["asked"])
        for adapter, reasons in sent["cannot_be_asked"].items():
            self.cannot_be_asked.setdefault(adapter, Counter()).update(reasons)
        self.out_of_scope.update(sent["out_of_scope"])
        self.other_files.update(sent["other_files"])
        self.bad_files += sent["bad_files"]
        for at, *key, count in sent["named"]:
            self.named[at, tuple(key)] += count
        for *key, families in sent["conversations"]:
            for family, is_right in families.items():
                self._judged(tuple(key), family, is_right)
        for *place, cause, conversations in sent["not_asked"]:
            for scenario, mode in conversations:
                self.add_not_asked(tuple(place), cause, scenario, mode)
        self.too_busy.update((scenario, method) for scenario, method in sent["too_busy"])
        self.outside.update(sent["outside"])
        for *key, count in sent["excluded"]:
            self.excluded[tuple(key)] += count
        self.exchanges.update(sent["exchanges"])
        self.counterexamples |= sent["counterexamples"]
