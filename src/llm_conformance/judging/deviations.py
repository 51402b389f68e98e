"""Known deviations: which cells of an adapter are known to fail, why, and where that is written down.

A deviation is bound to the cells that it names: a cell that fails and is named is `expected`, one that fails and is not
named has failed. A deviation that no failing cell bears out is stale, and fails the run, or the file would rot.
"""

from __future__ import annotations

import fnmatch
import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from llm_conformance import schema, toml_files
from llm_conformance.adapter.under_test import METHODS, AdapterUnderTest
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.wire.interaction import Mode
from llm_conformance.yaml_files import BadFileError, FileProblem

GENERATED = "generated"
_GLOB = re.compile(r"[*?\[]")


def names(pattern: str, id: str) -> bool:
    """Whether a glob names a scenario. What is drawn has to be named as such, or a glob would hide what it finds."""
    return fnmatch.fnmatchcase(id, pattern) and (f"/{GENERATED}-" not in id or GENERATED in pattern)


@dataclass(frozen=True)
class Deviation:
    """One deviation: one rule, one glob of scenario ids. An entry of a file with lists of them makes several.

    `adapter`, `versions` (a PEP 440 specifier), `mode` and `face` restrict it where they are given.
    """

    path: Path
    line: int
    rule: str
    scenario: str
    reason: str
    link: str
    adapter: str | None = None
    versions: str | None = None
    mode: Mode | None = None
    method: str | None = None

    def names(self, verdict: Verdict) -> bool:
        """Whether the deviation speaks of this cell."""
        return (
            self.rule == verdict.rule
            and self.mode in (None, verdict.mode)
            and self.method in (None, verdict.method)
            and names(self.scenario, verdict.scenario)
        )

    def is_covered_by(self, other: Deviation) -> bool:
        """Whether whatever this one names, the other names too."""
        restricted = ("adapter", "versions", "mode", "method")
        return self.rule == other.rule and all(
            getattr(other, each) in (None, getattr(self, each)) for each in restricted
        )

    def __str__(self) -> str:
        """Return rule, glob, and where it stands."""
        return f"{self.rule} in {self.scenario} ({self.path}:{self.line})"


@dataclass(frozen=True)
class Deviations:
    """The deviations of a run.

    Attributes:
        listed: All of them, in the order of the files.
        by_adapter: The positions of those that speak of an adapter, by its label.
        searched: Ids of rules that are judged by searching for a failure.
        is_certain: Whether a search draws the same in every run, so that finding nothing means something.
    """

    listed: tuple[Deviation, ...] = ()
    by_adapter: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    searched: Collection[str] = ()
    is_certain: bool = False

    def apply(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the deviation that names its cell, `expected` if it is a failure."""
        places = self._places.get(verdict.adapter, {})
        # Of hundreds of entries hardly any is about a cell, and a glob is a hundred times the work of a look-up.
        about = (places.get((verdict.rule, name), ()) for name in (verdict.scenario, None))
        named = [at for found in about for at in found if self.listed[at].names(verdict)]
        at = min(named, default=None)
        if at is None:
            return verdict
        status = Status.EXPECTED.value if verdict.status == Status.FAIL else verdict.status
        return replace(verdict, status=status, deviation=at)

    @functools.cached_property
    def _places(self) -> Mapping[str, Mapping[tuple[str, str | None], list[int]]]:
        """The positions by adapter, rule and scenario; None stands for all that a glob may match."""
        found: dict[str, dict[tuple[str, str | None], list[int]]] = {}
        for label, positions in self.by_adapter.items():
            for at in positions:
                each = self.listed[at]
                name = None if _GLOB.search(each.scenario) else each.scenario
                found.setdefault(label, {}).setdefault((each.rule, name), []).append(at)
        return found

    def stale(self, borne_out: Collection[int]) -> Iterator[int]:
        """Yield the positions of those that are stale, in a run in which no cell was left out.

        `borne_out` are those that name a failing cell.
        """
        for at in sorted({at for positions in self.by_adapter.values() for at in positions}):
            if at not in borne_out and self.decides(at):
                yield at

    def decides(self, at: int) -> bool:
        """Whether it means something if a run finds no failing cell: not where a search may find it the next time."""
        each = self.listed[at]
        return self.is_certain or not (GENERATED in each.scenario or each.rule in self.searched)

    def reason(self, verdict: Verdict) -> str:
        """Return what is said of a cell that fails as expected."""
        if verdict.deviation is None:
            return ""
        known = self.listed[verdict.deviation]
        return f"{known.reason} {known.link}"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return them as JSON values, in order."""
        return [{**vars(each), "path": each.path.as_posix()} for each in self.listed]


def load(path: Path, rules: Collection[str], scenarios: Collection[str]) -> tuple[Deviation, ...]:
    """Read a file of deviations.

    Raises BadFileError with all that is wrong with it: its form, rules and scenarios that are none, and entries that
    say what another says.
    """
    document, text = toml_files.read(path)
    problems = []
    for where, message in schema.problems("deviations", document):
        key = ".".join(map(str, where[2:] if len(where) > 1 else where)) or "the entry"
        problems.append(FileProblem(path, toml_files.line_of(text, where), f"{key}: {_said(message)}"))
    if problems:
        raise BadFileError(*problems)
    lines = [toml_files.line_of(text, ("deviation", number)) for number in range(len(document.get("deviation", ())))]
    found = list(_deviations(path, document, lines))
    problems += _problems(found, rules, scenarios)
    if problems:
        raise BadFileError(*problems)
    return tuple(found)


def _said(message: str) -> str:
    for pattern, told in _TOLD.items():
        if re.search(pattern, message):
            return told
    return message


_TOLD = {
    r"does not match '\\\\S'": "is empty; say why the adapter deviates",
    r"does not match '\^https": "has to be a URL (https://...) at which the deviation is written down",
    r"is not of type 'array'": "write [[deviation]], in two brackets, above each entry",
    r"not valid under any of the given schemas": "has to be a text, or a list of different ones",
}


def _deviations(path: Path, document: Mapping[str, Any], lines: list[int]) -> Iterator[Deviation]:
    for line, entry in zip(lines, document.get("deviation", ()), strict=True):
        for rule, pattern in itertools.product(_listed(entry["rule"]), _listed(entry["scenario"])):
            yield Deviation(path, line, **{**entry, "rule": rule, "scenario": pattern})


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _problems(found: list[Deviation], rules: Collection[str], scenarios: Collection[str]) -> Iterator[FileProblem]:
    matched = {pattern: _matched(pattern, scenarios) for pattern in {each.scenario for each in found}}
    earlier: dict[str, list[Deviation]] = {}
    for each in found:
        if each.rule not in rules:
            yield FileProblem(each.path, each.line, f"{each.rule}: no such invariant; `llm-conformance list` has all")
        if not matched[each.scenario]:
            yield FileProblem(each.path, each.line, f"{each.scenario}: no scenario has such an id")
        if each.versions is not None and (problem := _bad_specifier(each.versions)):
            yield FileProblem(each.path, each.line, f"versions: {problem}")
        if each.method is not None and each.mode is not None and each.method not in METHODS[each.mode]:
            yield FileProblem(each.path, each.line, f"face: {each.method} is no method for the mode {each.mode}")
        mine, before = matched[each.scenario], earlier.setdefault(each.rule, [])
        within = [other for other in before if mine and mine <= matched[other.scenario] and each.is_covered_by(other)]
        wider = [other for other in before if matched[other.scenario] <= mine and other.is_covered_by(each)]
        if within:
            said = f"redundant, line {within[0].line} says it already"
            yield FileProblem(each.path, each.line, f"{each.scenario}: {said}")
        elif wider:
            lines = ", ".join(str(line) for line in dict.fromkeys(other.line for other in wider))
            yield FileProblem(each.path, each.line, f"{each.scenario}: says what stands in line {lines}, too; keep one")
        earlier[each.rule].append(each)


def _matched(pattern: str, scenarios: Collection[str]) -> frozenset[str]:
    """Return the ids of the scenarios that a glob matches, or of whose interactions (`#1`) it matches any."""
    whole = pattern.partition("#")[0]
    if whole in scenarios:
        return frozenset([whole])
    return frozenset(id for id in scenarios if names(pattern, id) or names(whole, id))


def _bad_specifier(text: str) -> str | None:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return f"{text!r} is no version specifier; write something like '<2.1' or '>=1.4,<1.6'"
    return None


def for_run(
    listed: Iterable[Deviation], adapters: Iterable[AdapterUnderTest], searched: Collection[str], is_certain: bool
) -> Deviations:
    """Return the deviations as they apply to these adapters.

    Raises BadFileError where versions are named and the adapter's cannot be compared with them.
    """
    listed, adapters = tuple(listed), tuple(adapters)
    named = Counter(adapter.name for adapter in adapters)
    problems: dict[FileProblem, None] = {}
    by_adapter: dict[str, tuple[int, ...]] = {}
    for adapter in adapters:
        applying = []
        for at, each in enumerate(listed):
            if each.adapter not in (None, adapter.name, adapter.spec):
                continue
            if each.adapter == adapter.name != adapter.spec and named[adapter.name] > 1:
                said = f"{each.adapter} is the name of two adapters; give what names it on the command line"
                problems[FileProblem(each.path, each.line, f"adapter: {said}")] = None
            try:
                if each.versions is None or _is_in(adapter.version, each.versions):
                    applying.append(at)
            except InvalidVersion:
                said = f"the version of {adapter.label}, {adapter.version!r}, cannot be compared with {each.versions!r}"
                problems[FileProblem(each.path, each.line, f"versions: {said}; leave `versions` out")] = None
        by_adapter[adapter.label] = tuple(applying)
    if problems:
        raise BadFileError(*problems)
    return Deviations(listed, by_adapter, frozenset(searched), is_certain)


def _is_in(version: str | None, versions: str) -> bool:
    if version is None:
        raise InvalidVersion("none")
    return SpecifierSet(versions).contains(Version(version), prereleases=True)
