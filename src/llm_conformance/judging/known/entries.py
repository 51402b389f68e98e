"""Entries for the failures of a run: if possible, one for each cause. Each entry names only failing cells.

Failures of one rule form a group if their messages have the same stable part (`known.messages`), or if they share a
cause of which a recorded conversation has one kind only (`judging.causes`). A group joins a larger group if all its
scenarios are in the larger group, and if its rule passes in none of the larger group's scenarios: then one fault causes
both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from llm_conformance.adapter.declarations import METHODS
from llm_conformance.judging.causes import Cause, cause_of
from llm_conformance.judging.deviations import is_part
from llm_conformance.judging.known.messages import stable_part, widest
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.rules.rule import HARMS, Harm

_LARGE = 0.5
"""A group whose rule passes nowhere else joins another only if it has at least this share of the other's scenarios."""

Restriction = tuple[tuple[str, str], ...]
"""The keys and values that restrict an entry to a mode or a method."""

Where = tuple[str, str]
"""(scenario, method)"""


@dataclass(frozen=True)
class Failure:
    """A failing cell, or one of the failures that a search found for a cell."""

    adapter: str
    rule: str
    scenario: str
    method: str
    message: str
    part: str | None
    cause: Cause

    @property
    def where(self) -> Where:
        """The scenario and the method."""
        return self.scenario, self.method


@dataclass(frozen=True)
class Entry:
    """An entry to be written.

    Attributes:
        adapter: The label of the adapter.
        rules: The rules that fail; the one of the worst harm first.
        scenarios: The ids of the scenarios in which they fail.
        messages: Parts of messages; each failure has one of them. Empty if no part is the same in later runs.
        methods: The methods that fail.
        example: One of the failures of the first rule.
        joined: The entries that were joined to make this one; empty if there was only one.
    """

    adapter: str
    restriction: Restriction
    rules: tuple[str, ...]
    scenarios: frozenset[str]
    messages: tuple[str, ...]
    methods: frozenset[str]
    example: Failure
    joined: tuple[Entry, ...] = field(default=(), repr=False)

    def conflicts_with(self, other: Entry) -> bool:
        """Return True if this entry and `other` name the same cell, which is not allowed in a file."""
        return (
            self.adapter == other.adapter
            and not set(self.rules).isdisjoint(other.rules)
            and not self.scenarios.isdisjoint(other.scenarios)
            and not set(_methods(self.restriction)).isdisjoint(_methods(other.restriction))
            and any(
                is_part(one, each) or is_part(each, one)
                for one in self.messages or ("",)
                for each in other.messages or ("",)
            )
        )


def entries(verdicts: Iterable[Verdict], harms: Mapping[str, Harm]) -> list[Entry]:
    """Return the entries for all failures among the verdicts, the worst harm first.

    `harms` maps the id of each rule to its harm, in the order of the families.
    """
    families = list(dict.fromkeys(map(_family, harms)))
    failures: list[Failure] = []
    passed: dict[tuple[str, str], set[Where]] = {}
    for each in verdicts:
        if each.status == Status.FAIL:
            failures += _failures(each)
        elif each.status in (Status.PASS, Status.EXPECTED):
            passed.setdefault((each.adapter, each.rule), set()).add((each.scenario, each.method))

    def rank(rule: str) -> tuple[int, int, str]:
        return HARMS.index(harms[rule]), families.index(_family(rule)), rule

    found = _joined(list(_groups(failures, passed)), passed, rank_of={each: rank(each) for each in harms})
    while split := {id(each) for each in found if each.joined and any(map(each.conflicts_with, _others(each, found)))}:
        found = [part for each in found for part in (each.joined if id(each) in split else (each,))]
    return sorted(found, key=lambda each: (each.adapter, rank(each.rules[0]), -len(each.scenarios), each.messages))


def _family(rule: str) -> str:
    return rule.partition("-")[0]


def _others(entry: Entry, all_entries: Iterable[Entry]) -> Iterator[Entry]:
    return (each for each in all_entries if each is not entry)


def _failures(verdict: Verdict) -> Iterator[Failure]:
    where = verdict.adapter, verdict.rule, verdict.scenario, verdict.method
    for each in (verdict.failure, *verdict.other_failures):
        part = None if each["cause"] is None else stable_part(each["cause"])
        yield Failure(*where, each["message"] or "", part, cause_of(each))


Passed = Mapping[tuple[str, str], Collection[Where]]
"""Maps (adapter, rule) to the cells that pass or that a known deviation names."""


def _groups(failures: Iterable[Failure], passed: Passed) -> Iterator[Entry]:
    """Yield one entry for each rule, message and restriction."""
    by_rule: dict[tuple[str, str], list[Failure]] = {}
    for each in failures:
        by_rule.setdefault((each.adapter, each.rule), []).append(each)
    for (adapter, rule), of_rule in by_rule.items():
        parts = {each.part for each in of_rule}
        # An entry without a message covers all others of the rule.
        shared = widest(part for part in parts if part is not None) if None not in parts else {}
        for alike in _of_one_fault(of_rule, shared):
            for restriction, found in _restricted(alike, passed.get((adapter, rule), ())):
                scenarios = frozenset(each.scenario for each in found)
                example = min(found, key=lambda each: (len(each.message), each.where))
                parts_here = dict.fromkeys(shared.get(each.part or "") for each in found)
                messages = tuple(part for part in parts_here if part is not None)
                methods = frozenset(each.method for each in found)
                yield Entry(adapter, restriction, (rule,), scenarios, messages, methods, example)


def _of_one_fault(failures: Iterable[Failure], shared: Mapping[str, str]) -> Iterator[list[Failure]]:
    """Yield the failures of a rule, grouped. `shared` maps each part to the part that an entry has for it.

    Failures with the same part are a group. Failures of several kinds are a group only if a recorded conversation can
    have one of the kinds alone. Otherwise, an entry with all scenarios and all kinds would name other failures, too.
    """
    groups: dict[tuple[str | None, bool], list[Failure]] = {}
    for each in failures:
        part = shared.get(each.part or "")
        joins = part is not None and each.cause.is_exclusive
        groups.setdefault((each.cause.text if joins else part, joins), []).append(each)
    yield from groups.values()


def _restricted(failures: Sequence[Failure], right: Collection[Where]) -> Iterator[tuple[Restriction, list[Failure]]]:
    """Yield (restriction, failures). A restriction to a mode or a method keeps an entry from naming passing cells."""
    scenarios = {each.scenario for each in failures}
    if not any(scenario in scenarios for scenario, _ in right):
        yield (), list(failures)
        return
    for mode, methods in METHODS.items():
        of_mode = [each for each in failures if each.method in methods]
        scenarios = {each.scenario for each in of_mode}
        if not any(scenario in scenarios and method in methods for scenario, method in right):
            if of_mode:
                yield (("mode", mode),), of_mode
            continue
        for method in methods:
            if of_method := [each for each in of_mode if each.method == method]:
                yield (("method", method),), of_method


def _joined(groups: list[Entry], passed: Passed, rank_of: Mapping[str, tuple[int, int, str]]) -> list[Entry]:
    """Return the groups after joining those that come from the same fault."""

    def belongs(group: Entry, head: Entry) -> bool:
        same_place = group.adapter == head.adapter and group.scenarios <= head.scenarios
        if not same_place or bool(group.messages) is not bool(head.messages):
            return False
        mine = passed.get((group.adapter, group.rules[0]), ())
        allowed = _methods(head.restriction)
        if group.restriction not in ((), head.restriction) or not group.methods.issubset(allowed):
            return False
        if any(scenario in head.scenarios and method in allowed for scenario, method in mine):
            return False
        passes_elsewhere = any(scenario not in head.scenarios for scenario, _ in mine)
        return passes_elsewhere or len(group.scenarios) >= _LARGE * len(head.scenarios)

    left = sorted(groups, key=lambda each: (-len(each.scenarios), rank_of[each.rules[0]], each.messages))
    found = []
    while left:
        head, *rest = left
        family = [head, *(each for each in rest if belongs(each, head))]
        left = [each for each in rest if each not in family]
        found.append(_one_entry(family, rank_of))
    return found


def _methods(restriction: Restriction) -> Collection[str]:
    (name, value), *_ = restriction or (("", ""),)
    if name == "method":
        return {value}
    return {method for mode, methods in METHODS.items() if value in ("", mode) for method in methods}


def _one_entry(family: Sequence[Entry], rank_of: Mapping[str, tuple[int, int, str]]) -> Entry:
    head = family[0]
    worst = min(family, key=lambda each: rank_of[each.rules[0]])
    return replace(
        head,
        rules=tuple(sorted({rule for each in family for rule in each.rules}, key=lambda rule: rank_of[rule])),
        messages=tuple(dict.fromkeys(widest(message for each in family for message in each.messages).values())),
        example=worst.example,
        joined=tuple(family) if len(family) > 1 else (),
    )
