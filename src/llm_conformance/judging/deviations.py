"""Known deviations: cells of an adapter that are known to fail, each with a reason and a link.

A failing cell that a deviation names is `expected` instead of `fail`. A deviation that names no failing cell is stale,
and fails the run, so that it is removed when the adapter is fixed.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.wire.interaction import Mode
from llm_conformance.yaml_files import BadFileError, FileProblem

GENERATED = "generated"
_GLOB = re.compile(r"[*?\[]")


def names(pattern: str, id: str) -> bool:
    """Return True if a glob names a scenario.

    A glob names generated scenarios only if it contains the word `generated`: others would hide new failures.
    """
    return fnmatch.fnmatchcase(id, pattern) and (f"/{GENERATED}-" not in id or GENERATED in pattern)


@dataclass(frozen=True)
class Deviation:
    """One deviation: one rule and one glob of scenario ids. An entry of a file with lists makes several.

    `adapter`, `versions` (a PEP 440 specifier), `mode` and `method` restrict it, unless they are None.
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
        """Return True if the deviation is about the cell of a verdict."""
        return (
            self.rule == verdict.rule
            and self.mode in (None, verdict.mode)
            and self.method in (None, verdict.method)
            and names(self.scenario, verdict.scenario)
        )

    def is_covered_by(self, other: Deviation) -> bool:
        """Return True if the other one has the same rule and no restriction that this one does not have."""
        restricted = ("adapter", "versions", "mode", "method")
        return self.rule == other.rule and all(
            getattr(other, each) in (None, getattr(self, each)) for each in restricted
        )

    def __str__(self) -> str:
        """Return the rule, the glob, the file and the line."""
        return f"{self.rule} in {self.scenario} ({self.path}:{self.line})"


@dataclass(frozen=True)
class Deviations:
    """The deviations of a run.

    Attributes:
        listed: All deviations, in the order of the files.
        by_adapter: The positions of the deviations of each adapter, by its label.
        searched: The ids of the rules that are judged by a search for a failure.
        is_certain: Whether a search draws the same examples in every run. Then a search that finds no failure shows
            that the deviation is stale.
    """

    listed: tuple[Deviation, ...] = ()
    by_adapter: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    searched: Collection[str] = ()
    is_certain: bool = False

    def apply(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the deviation that names its cell; a failure becomes `expected`."""
        places = self._places.get(verdict.adapter, {})
        # A look-up is a hundred times faster than matching a glob, and most entries have no glob.
        about = (places.get((verdict.rule, name), ()) for name in (verdict.scenario, None))
        named = [at for found in about for at in found if self.listed[at].names(verdict)]
        at = min(named, default=None)
        if at is None:
            return verdict
        status = Status.EXPECTED.value if verdict.status == Status.FAIL else verdict.status
        return replace(verdict, status=status, deviation=at)

    @functools.cached_property
    def _places(self) -> Mapping[str, Mapping[tuple[str, str | None], list[int]]]:
        """The positions by adapter, rule and scenario; a glob has None instead of the scenario."""
        found: dict[str, dict[tuple[str, str | None], list[int]]] = {}
        for label, positions in self.by_adapter.items():
            for at in positions:
                each = self.listed[at]
                name = None if _GLOB.search(each.scenario) else each.scenario
                found.setdefault(label, {}).setdefault((each.rule, name), []).append(at)
        return found

    def stale(self, borne_out: Collection[int]) -> Iterator[int]:
        """Yield the positions of the stale deviations of a complete run.

        `borne_out` are the positions of the deviations that name a failing cell.
        """
        for at in sorted({at for positions in self.by_adapter.values() for at in positions}):
            if at not in borne_out and self.decides(at):
                yield at

    def decides(self, at: int) -> bool:
        """Return True if a deviation without a failing cell is stale, not if a search may fail in the next run."""
        each = self.listed[at]
        return self.is_certain or not (GENERATED in each.scenario or each.rule in self.searched)

    def reason(self, verdict: Verdict) -> str:
        """Return the reason and the link of the deviation that a verdict has."""
        if verdict.deviation is None:
            return ""
        known = self.listed[verdict.deviation]
        return f"{known.reason} {known.link}"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the deviations as JSON values, in order."""
        return [{**vars(each), "path": each.path.as_posix()} for each in self.listed]


def for_run(
    listed: Iterable[Deviation], adapters: Iterable[AdapterUnderTest], searched: Collection[str], is_certain: bool
) -> Deviations:
    """Return the deviations as they apply to the adapters of a run.

    Raises BadFileError if an entry names versions and the version of the adapter cannot be compared with them, or if an
    entry has a name that two adapters have.
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
                message = f"adapter: two adapters are named {each.adapter}; write {adapter.spec!r} for this one"
                problems[FileProblem(each.path, each.line, message)] = None
            try:
                if each.versions is None or _is_in(adapter.version, each.versions):
                    applying.append(at)
            except InvalidVersion:
                version = f"the version of {adapter.label}, {adapter.version!r}"
                message = f"versions: {version}, cannot be compared with {each.versions!r}; leave `versions` out"
                problems[FileProblem(each.path, each.line, message)] = None
        by_adapter[adapter.label] = tuple(applying)
    if problems:
        raise BadFileError(*problems)
    return Deviations(listed, by_adapter, frozenset(searched), is_certain)


def _is_in(version: str | None, versions: str) -> bool:
    if version is None:
        raise InvalidVersion("None")
    return SpecifierSet(versions).contains(Version(version), prereleases=True)
