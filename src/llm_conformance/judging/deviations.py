"""Known deviations: cells of an adapter that are known to fail, each with a reason and a link.

A failing cell that a deviation names is `expected` instead of `fail`. A deviation with a `message` names only failures
whose message contains this text. Another fault in the same cell then still fails. An entry without a failing cell is
stale and fails the run, so that somebody removes it when the adapter is fixed.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging.causes import cause_of, is_named
from llm_conformance.judging.effort import NO_EFFORT, Effort
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.locations import is_library_file
from llm_conformance.rules.rule import Harm
from llm_conformance.wire.interaction import Mode
from llm_conformance.yaml_files import BadFileError, FileProblem

GENERATED = "generated"
LISTS = ("rule", "scenario", "message")
"""The keys of an entry that may have lists."""

_GLOB = re.compile(r"[*?\[]")


def names(pattern: str, id: str) -> bool:
    """Return True if a glob names a scenario.

    A glob names generated scenarios only if it contains the word `generated`. Other globs would hide new failures.
    """
    return fnmatch.fnmatchcase(id, pattern) and (f"/{GENERATED}-" not in id or GENERATED in pattern)


def is_recording_of(pattern: str, packages: Collection[str]) -> bool:
    """Return True if a glob names recordings of one of the packages. Their ids begin with the name of the package.

    The glob begins with that name. A glob with two slashes (`*/*/*`) may have a pattern in place of the name, because
    no id of a scenario has two slashes.
    """
    package, slash, _ = pattern.partition("/")
    is_deep = pattern.count("/") > 1
    return bool(slash) and (package in packages or (is_deep and bool(fnmatch.filter(packages, package))))


ANYTHING = "…"
"""Stands for any text in a `message`."""


def is_part(message: str, text: str) -> bool:
    """Return True if a `message` of a deviation is a part of a text: its pieces between "…" occur in it, in order."""
    at = 0
    for piece in message.split(ANYTHING):
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


Judgement = Literal["fault", "by design", "arguable"]
"""Whether the author of an entry calls the deviation a fault."""

SOMETIMES = "known, seen in some runs: "
"""How reports introduce the reason of a deviation that shows only in some runs."""
WRITTEN_WITH = "ci"
"""The effort of files of known deviations that do not state theirs."""


@dataclass(frozen=True)
class Deviation:
    """One deviation: one rule, one glob of scenario ids, one message. An entry with lists makes several deviations.

    `adapter`, `versions` (a PEP 440 specifier), `mode`, `method` and `message` restrict the deviation, unless they are
    None. `examples` is the effort of the run that found the failure, as a value of the option. `link` is a URL. If
    nobody has reported the deviation, it is the path of a report that is ready to be filed. `judgement` says whether
    the deviation is a fault; if it is none, `argument` is the maintainers' argument. `reproduction` is the path of a
    program that shows the deviation. `harm` is what a user of the adapter suffers, if that is not the worst harm of the
    rules. With `sometimes`, the failure shows only in some runs, for example because two threads race. Such an entry is
    never stale. Paths start at the folder of the file.
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
    message: str | None = None
    judgement: Judgement = "fault"
    argument: str | None = None
    reproduction: str | None = None
    harm: Harm | None = None
    sometimes: bool = False
    examples: str = WRITTEN_WITH

    @property
    def about(self) -> str:
        """The glob and the message."""
        return self.scenario if self.message is None else f"{self.scenario} with {self.message!r}"

    def names(self, verdict: Verdict) -> bool:
        """Return True if the deviation names the cell of a verdict and, if the verdict is a failure, its message."""
        return (
            self.rule == verdict.rule
            and self.mode in (None, verdict.mode)
            and self.method in (None, verdict.method)
            and names(self.scenario, verdict.scenario)
            and (verdict.status != Status.FAIL or self._explains(verdict))
        )

    def _explains(self, failure: Verdict) -> bool:
        texts = filter(None, (failure.message, failure.cause))
        if self.message is None or any(is_part(self.message, text) for text in texts):
            return True
        shared = cause_of(failure.failure)
        return is_part(self.message, shared.text) or is_named(shared, self.message)

    def is_covered_by(self, other: Deviation) -> bool:
        """Return True if `other` has the same rule, and this deviation has every restriction of `other`."""
        restricted = ("adapter", "versions", "mode", "method")
        return (
            self.rule == other.rule
            and all(getattr(other, each) in (None, getattr(self, each)) for each in restricted)
            and (other.message is None or (self.message is not None and is_part(other.message, self.message)))
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
        searched: The ids of the rules that a search judges.
        effort: The effort of the run's searches. If a search finds no failure, a deviation is stale only if this effort
            covers the effort that found the failure.
        elsewhere: The packages of the public corpus that the run does not use. Deviations that name recordings of these
            packages are not stale.
    """

    listed: tuple[Deviation, ...] = ()
    by_adapter: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    searched: Collection[str] = ()
    effort: Effort = NO_EFFORT
    elsewhere: Collection[str] = ()

    def apply(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the deviations that name its cell; a failure becomes `expected`."""
        named = self.naming(verdict) if self.listed else []
        if not named:
            return verdict
        status = Status.EXPECTED.value if verdict.status == Status.FAIL else verdict.status
        return replace(verdict, status=status, deviation=named[0], further_deviations=tuple(named[1:]))

    def naming(self, verdict: Verdict) -> list[int]:
        """Return the positions of the deviations that name the cell of a verdict, in order."""
        places = self._places.get(verdict.adapter, {})
        # A look-up is a hundred times faster than matching a glob, and most entries have no glob.
        about = (places.get((verdict.rule, name), ()) for name in (verdict.scenario, None))
        return sorted(at for found in about for at in found if self.listed[at].names(verdict))

    @functools.cached_property
    def _places(self) -> Mapping[str, Mapping[tuple[str, str | None], list[int]]]:
        """The positions of deviations by adapter, then by (rule, scenario id); None instead of the id for a glob."""
        found: dict[str, dict[tuple[str, str | None], list[int]]] = {}
        for label, positions in self.by_adapter.items():
            for at in positions:
                each = self.listed[at]
                name = None if _GLOB.search(each.scenario) else each.scenario
                found.setdefault(label, {}).setdefault((each.rule, name), []).append(at)
        return found

    def stale(self, borne_out: Collection[int]) -> Iterator[int]:
        """Yield the positions of the stale deviations of a complete run.

        `borne_out` are the positions of the deviations that name a failing cell, or a cell that could not be judged. An
        entry with lists makes several deviations. Not all of them have to be borne out: it is enough if each rule, glob
        and message of the entry is in a deviation that is borne out.
        """
        applying = sorted({at for positions in self.by_adapter.values() for at in positions})
        entries = {at: vars(self.listed[at]) for at in applying}
        return stale_parts(entries, {at for at in applying if at in borne_out or not self.decides(at)})

    def stale_entries(self, stale: Collection[int]) -> Iterator[str]:
        """Yield a line for each entry that is stale as a whole or in part: its place and what to remove.

        Entries of an installed suite are left out, because its users cannot change them.
        """
        for (path, line), positions in self.by_entry.items():
            gone = [at for at in positions if at in stale]
            if gone and not is_library_file(path):
                yield f"{path}:{line}: {self._advice(gone, [at for at in positions if at not in stale])}"

    def unused(self, used: Collection[int], undecided: Collection[int]) -> Iterator[str]:
        """Yield one line with the number of entries that name no failure in this run, and the reasons.

        Stale entries are not counted, and neither are those of an installed suite. Yields nothing if there is no such
        entry.

        Args:
            used: The positions of deviations that name a failure or are stale.
            undecided: The positions of deviations that name a cell which could not be judged.
        """
        applying = {at for positions in self.by_adapter.values() for at in positions}
        own = [positions for (path, _), positions in self.by_entry.items() if not is_library_file(path)]
        unused = [positions for positions in own if set(positions).isdisjoint(used)]
        reasons = Counter(
            "for other adapters or versions"
            if applying.isdisjoint(positions)
            else "of cells that could not be judged"
            if not set(undecided).isdisjoint(positions)
            else "seen in some runs, and not in this one"
            if all(self.listed[at].sometimes for at in positions)
            else "of cells outside this run, or of inputs that it does not draw"
            for positions in unused
        )
        if unused:
            why = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
            yield f"deviations not used in this run: {len(unused)} of {len(own)} entries: {why}"

    @functools.cached_property
    def by_entry(self) -> Mapping[tuple[Path, int], Sequence[int]]:
        """The positions of the deviations of each entry, by its (path, line)."""
        found: dict[tuple[Path, int], list[int]] = {}
        for at, each in enumerate(self.listed):
            found.setdefault((each.path, each.line), []).append(at)
        return found

    def _advice(self, stale: list[int], alive: list[int]) -> str:
        parts: list[str] = []
        for name in LISTS if alive else ():
            kept = {getattr(self.listed[at], name) for at in alive}
            gone = dict.fromkeys(getattr(self.listed[at], name) for at in stale)
            if removed := ", ".join(each for each in gone if each not in kept):
                parts.append(f"{removed} from `{name}`")
        first = self.listed[stale[0]]
        return f"no cell fails; remove {' and '.join(parts) or f'the entry ({first.rule} in {first.scenario})'}"

    def decides(self, at: int) -> bool:
        """Return True if the deviation at a position is stale when none of its cells fails.

        The deviation is not stale if its failure shows only in some runs, if a search may find the failure in another
        run, or if this run does not have its recordings.
        """
        each = self.listed[at]
        if each.sometimes or is_recording_of(each.scenario, self.elsewhere):
            return False
        is_drawn = GENERATED in each.scenario or each.rule in self.searched
        return not is_drawn or self.effort.covers(Effort.named(each.examples))

    def reason(self, verdict: Verdict) -> str:
        """Return the reason and the link of the deviation that names the cell of a verdict."""
        if verdict.deviation is None:
            return ""
        known = self.listed[verdict.deviation]
        return f"{SOMETIMES if known.sometimes else ''}{known.reason} {known.link}"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the deviations as JSON values, in order."""
        hidden = {"examples"}
        fields = ({key: value for key, value in vars(each).items() if key not in hidden} for each in self.listed)
        return [{**each, "path": each["path"].as_posix()} for each in fields]


def stale_parts(deviations: Mapping[int, Mapping[str, Any]], alive: Collection[int]) -> Iterator[int]:
    """Yield the positions of stale deviations.

    A deviation is stale if its rule, glob or message is in no deviation of its entry that is alive. `deviations` maps
    the position of each deviation to its fields. `alive` are the positions of those that name a failure, or about which
    the run cannot decide.
    """
    parts = {
        at: {(str(each["path"]), each["line"], name, each.get(name)) for name in LISTS}
        for at, each in deviations.items()
    }
    living = {part for at in alive for part in parts[at]}
    yield from (at for at, own in parts.items() if not own <= living)


def for_run(
    listed: Iterable[Deviation],
    adapters: Iterable[AdapterUnderTest],
    searched: Collection[str],
    effort: Effort,
    elsewhere: Collection[str] = (),
) -> Deviations:
    """Return the deviations that apply to the adapters of a run. The last three arguments are as in `Deviations`.

    Raises BadFileError if the version of an adapter cannot be compared with the `versions` of an entry, or if two
    adapters have the name that an entry names.
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
    return Deviations(listed, by_adapter, frozenset(searched), effort, frozenset(elsewhere))


def _is_in(version: str | None, versions: str) -> bool:
    if version is None:
        raise InvalidVersion("None")
    return SpecifierSet(versions).contains(Version(version), prereleases=True)
