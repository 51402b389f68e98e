"""The faults of a library: its known deviations, each with its failures in two reports.

One report has the scenarios of the suite, the other the recordings of the public corpus.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.judging.deviations import Judgement
from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.rules.rule import HARMS, Harm

Conversation = tuple[str, str]
"""(scenario, mode)"""

_JUDGED = (Status.PASS, Status.FAIL, Status.EXPECTED)


@dataclass(frozen=True)
class Judged:
    """A library and the reports on it; None for a report that could not be made."""

    name: str
    written: Document | None
    real: Document | None

    @property
    def reports(self) -> Mapping[str, Document]:
        """The reports that there are, by evidence: `real` and `written`."""
        both = {"real": self.real, "written": self.written}
        return {name: each for name, each in both.items() if each is not None}

    @property
    def version(self) -> str:
        """The version that the adapter states, "" if it states none."""
        ((adapter,), *_) = (each["adapters"] for each in self.reports.values())
        return str(adapter["version"] or "")

    @property
    def not_declared(self) -> tuple[str, ...]:
        """The capabilities that the shim does not declare, without `raw`."""
        ((found,), *_) = (each["judged"] for each in self.reports.values())
        return tuple(found["not_declared"])

    @property
    def excluded(self) -> Mapping[str, str]:
        """The inputs that the shim excludes and that would have been judged, with the reasons."""
        return {each["way"]: each["reason"] for report in self.reports.values() for each in report["excluded_inputs"]}

    @property
    def date(self) -> str:
        """The day of the older report."""
        return str(min(each["finished"] for each in self.reports.values()))[:10]


@dataclass(frozen=True)
class Fault:
    """One known deviation: an entry of `deviations.toml` that names a failure of one of the reports.

    Attributes:
        rules: The rules that it breaks, the rule of the worst harm first.
        harm: The harm that the entry states; else the worst harm of these rules.
        link: A URL, or the path of a text in the folder of the library.
        real: The recorded conversations with this fault.
        written: The written conversations with this fault.
    """

    reason: str
    link: str
    judgement: Judgement
    argument: str | None
    reproduction: str | None
    rules: tuple[str, ...]
    harm: Harm
    real: frozenset[Conversation]
    written: frozenset[Conversation]

    @property
    def order(self) -> tuple[Any, ...]:
        """The sort key. Faults that real traffic shows come first, and among these the worst."""
        return not self.real, HARMS.index(self.harm), -len(self.real), -len(self.written), self.reason


@dataclass(frozen=True)
class Standing:
    """The number of judged conversations of one kind, and the number without a fault.

    What is by design or arguable is not a fault. A conversation with a failure that nobody has judged yet counts in
    `undecided`, not in `right`.
    """

    judged: int = 0
    right: int = 0
    undecided: int = 0
    has_report: bool = True


@dataclass
class _Found:
    entry: Mapping[str, Any]
    rules: set[str] = field(default_factory=set)
    seen: dict[str, set[Conversation]] = field(default_factory=lambda: {"real": set(), "written": set()})


def faults(judged: Judged) -> list[Fault]:
    """Return all deviations that the reports confirm. Deviations in real traffic come first, then the worst harm.

    A failure counts for the first entry that names it. If an entry is the first for none of its failures, they count
    for it, too: two faults may show in the same conversations only.
    """
    first: dict[str, _Found] = {}
    further: dict[str, _Found] = {}
    for kind, report in judged.reports.items():
        entries = report["deviations"]
        for result in report["results"]:
            if result["status"] == Status.EXPECTED:
                _add(first, entries[result["deviation"]], kind, result)
                for at in result.get("further_deviations", ()):
                    _add(further, entries[at], kind, result)
    return sorted(map(_fault, {**further, **first}.values()), key=lambda fault: fault.order)


def _add(found: dict[str, _Found], entry: Mapping[str, Any], kind: str, result: Mapping[str, Any]) -> None:
    each = found.setdefault(entry["reason"], _Found(entry))
    each.rules.add(result["rule"])
    each.seen[kind].add(_conversation(result))


def _fault(found: _Found) -> Fault:
    rules = sorted(found.rules, key=lambda rule: (HARMS.index(_harm(rule)), rule))
    entry = found.entry
    return Fault(
        reason=entry["reason"],
        link=entry["link"],
        judgement=entry["judgement"],
        argument=entry["argument"],
        reproduction=entry["reproduction"],
        rules=tuple(rules),
        harm=entry.get("harm") or _harm(rules[0]),
        real=frozenset(found.seen["real"]),
        written=frozenset(found.seen["written"]),
    )


def _harm(rule: str) -> Harm:
    return catalogue()[rule].rule.harm


def _conversation(result: Mapping[str, Any]) -> Conversation:
    return result["scenario"], result["mode"]


def standing(report: Document | None, api: str | None = None, part: str = "") -> Standing:
    """Return the standing of the conversations of a report that are of one API and have `part` in their ids."""
    if report is None:
        return Standing(has_report=False)
    conversations: dict[Conversation, set[str]] = {}
    for result in report["results"]:
        is_wanted = api in (None, api_of(result)) and part in result["scenario"]
        if is_wanted and result["status"] in _JUDGED:
            conversations.setdefault(_conversation(result), set()).add(_kind(result, report))
    kinds = list(conversations.values())
    wrong = sum("fault" in each for each in kinds)
    undecided = sum(Status.FAIL in each and "fault" not in each for each in kinds)
    return Standing(len(kinds), len(kinds) - wrong - undecided, undecided)


def _kind(result: Mapping[str, Any], report: Document) -> str:
    """Return the judgement of a known failure; else the status."""
    if result["status"] == Status.EXPECTED:
        return str(report["deviations"][result["deviation"]]["judgement"])
    return str(result["status"])


def api_of(result: Mapping[str, Any]) -> str:
    """Return the API of a result, as `provider:api`."""
    return f"{result['provider']}:{result['api']}"


def apis(judged: Judged) -> list[str]:
    """Return, sorted, the APIs that the adapter lists or that have verdicts."""
    reports = judged.reports.values()
    listed = {name for each in reports for adapter in each["adapters"] for name in adapter["providers"] if ":" in name}
    return sorted(listed | {api_of(result) for each in reports for result in each["results"]})


@dataclass(frozen=True)
class NotAsked:
    """Why conversations were not asked, with the number for each reason, the most frequent reason first.

    Attributes:
        by_library: The reasons that lie in the library or its shim, which cannot express a part of the conversation.
        by_suite: The reasons that lie in the suite: a recording lacks a part of the request, or has a part for which
            the suite has no form.
    """

    by_library: Mapping[str, int]
    by_suite: Mapping[str, int]


_SAID_BY_ADAPTER = re.compile(
    r"(the adapter has no earlier answer to send back: |the adapter cannot make this call: (NotImplementedError: )?)+"
)
_NOT_DECLARED = re.compile(r"`\w+` is not declared")


def not_asked(judged: Judged) -> NotAsked:
    """Return why conversations could not be asked.

    If a turn is not asked, later turns that need its answer are not asked either. They count for the same reason.
    """
    by_library: Counter[str] = Counter()
    by_suite: Counter[str] = Counter()
    for report in judged.reports.values():
        for each in report["not_asked"]:
            by_library[each["cause"]] += each["conversations"]
        for reasons in report["bare_recordings"]["cannot_be_asked"].values():
            for reason, number in reasons.items():
                said = _SAID_BY_ADAPTER.match(reason)
                if said or _NOT_DECLARED.match(reason):
                    by_library[reason[said.end() :] if said else reason] += number
                else:
                    by_suite[reason] += number
    return NotAsked(dict(by_library.most_common()), dict(by_suite.most_common()))
