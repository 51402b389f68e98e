"""Compare the failures of an installed library with its known findings.

The known findings are the entries of the library's file of known deviations. They are about the release that its
`requirements.in` or `package.json` names. An entry with `versions` applies only to these versions.
"""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import toml_files
from llm_conformance.adapter.libraries import Library
from llm_conformance.judging import status as statuses
from llm_conformance.judging.deviations import Judgement
from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.reports.findings import harm_of
from llm_conformance.reports.matrix import GENERATED
from llm_conformance.rules.rule import HARM_MEANINGS, HARMS, Harm
from llm_conformance.wording import counted

_WIDTH = 110
_JUDGED = (Status.PASS, Status.STALE, Status.FAIL, Status.EXPECTED)
_JUDGEMENTS: Sequence[Judgement] = ("fault", "arguable", "by design")


def before(library: Library, directory: Path) -> Iterator[str]:
    """Yield lines that say what is judged, and about which release the known findings are."""
    document, _ = toml_files.read(library.deviations)
    known = len({each.get("reason") for each in document.get("deviation", ())})
    yield f"{library.package} {library.installed(directory)} is judged through the shim {library.shim}."
    yield f"Its known findings were made with {library.package} {library.release}: {known} in {library.deviations}"


def after(library: Library, directory: Path, report: Document) -> Iterator[str]:
    """Yield lines that say which known findings are still there, which are gone, and what is new."""
    installed = library.installed(directory)
    release = "the same release" if installed == library.release else f"{library.package} {library.release}"
    yield ""
    yield f"{library.package} {installed} against the known findings of {release}"
    entries = _entries(report)
    if (of := _without_fault(report))[1]:
        counts = f"{of[0]} of {of[1]} conversations"
        yield f"  without a fault: {counts} (the table counts what is by design or arguable as wrong)"
    there = list(_still_there(entries, _conversations(report)))
    gone = [each for each in entries if not _has(each, Status.EXPECTED) and _has(each, Status.STALE)]
    yield f"  still there: {len(there)} of {len(entries)}{', the worst first' if len(there) > 1 else ''}"
    for harm, findings in itertools.groupby(sorted(there, key=lambda each: each.rank), key=lambda each: each.harm):
        yield f"    {HARM_MEANINGS[harm]} ({harm}):"
        yield from (_line(str(each), indent=6) for each in findings)
    if there:
        yield f"    `llm-conformance run --adapter={library.name}` shows these failures, with commands that repeat them"
    yield f"  gone: {len(gone)}{', which does not fail the run' if gone else ''}"
    yield from (_line(_said(entry)) for entry in gone)
    if others := len(entries) - len(there) - len(gone):
        why = "for other versions, for recordings, seen in some runs only, or left out of this run"
        yield f"  not asked, or not seen: {others}, {why}"
    new = [each for each in report["findings"] if each["status"] == Status.FAIL]
    yield f"  new: {len(new)}{'; shown above' if new else ''}"
    for each in new:
        where = counted(each["conversations"], "conversation")
        yield _line(f"{each['harm']}: {each['rule']} ({where}): {each['cause']}")


def exit_code(code: int, report: Document) -> int:
    """Return the exit code of a library's run, in which known findings that are gone do not count.

    The file of known deviations is part of the suite, so a user cannot remove entries that another release has mended.

    Args:
        code: The exit code of pytest.
        report: The report of the run.
    """
    counts = Counter(each["status"] for each in report["results"] if each["status"] != Status.STALE)
    return statuses.exit_code(counts) if code == 1 else code


def _without_fault(report: Document) -> tuple[int, int]:
    """Return the numbers of (conversations without a fault, judged conversations), without generated ones.

    By-design and arguable failures are no faults.

    The pages of the libraries count in the same way (`peers.faults.standing`).
    """
    is_right: dict[tuple[str, str], bool] = {}
    for result in report["results"]:
        status = result["status"]
        if status in _JUDGED and result["provenance"] != GENERATED:
            key = result["scenario"], result["mode"]
            is_known = status == Status.EXPECTED
            is_fault = is_known and report["deviations"][result["deviation"]].get("judgement", "fault") == "fault"
            is_right[key] = is_right.get(key, True) and status != Status.FAIL and not is_fault
    return sum(is_right.values()), len(is_right)


Entry = Sequence[tuple[int, Mapping[str, Any]]]
"""(position in the report, deviation) of each deviation with the same reason."""


@dataclass(frozen=True)
class _Known:
    """A known finding that is still there.

    Attributes:
        harm: The harm that the entry states, or else the worst harm of the failing rules.
        conversations: The number of conversations in which the entry names a failure.
    """

    reason: str
    harm: Harm
    judgement: Judgement
    conversations: int

    @property
    def rank(self) -> tuple[int, int, int]:
        """The sort key: the worst harm first, then faults, then the most frequent."""
        return HARMS.index(self.harm), _JUDGEMENTS.index(self.judgement), -self.conversations

    def __str__(self) -> str:
        """Return the finding in one line."""
        judgement = "" if self.judgement == "fault" else f"{self.judgement}, "
        return f"{self.reason} ({judgement}{counted(self.conversations, 'conversation')})"


def _still_there(entries: Sequence[Entry], seen: Mapping[int, set[tuple[str, str]]]) -> Iterator[_Known]:
    """Yield the findings that are still there; `seen` maps the position of a deviation to its conversations."""
    for entry in entries:
        failing = [(at, each) for at, each in entry if each["status"] == Status.EXPECTED]
        if failing:
            _, first = failing[0]
            harms: list[Harm] = [each.get("harm") or harm_of(each["rule"]) for _, each in failing]
            conversations = {each for at, _ in failing for each in seen.get(at, ())}
            yield _Known(_said(entry), min(harms, key=HARMS.index), first.get("judgement", "fault"), len(conversations))


def _entries(report: Document) -> Sequence[Entry]:
    """Return the deviations by finding. Deviations with the same reason are one finding."""
    found: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for at, each in enumerate(report["deviations"]):
        found.setdefault(each["reason"], []).append((at, each))
    return list(found.values())


def _has(entry: Entry, status: Status) -> bool:
    return any(each["status"] == status for _, each in entry)


def _said(entry: Entry) -> str:
    reason: str = entry[0][1]["reason"]
    return reason


def _conversations(report: Document) -> Mapping[int, set[tuple[str, str]]]:
    """Map the position of each deviation to the conversations in which it names a failure."""
    found: dict[int, set[tuple[str, str]]] = {}
    for result in report["results"]:
        if result["status"] == Status.EXPECTED:
            for at in (result["deviation"], *result.get("further_deviations", ())):
                found.setdefault(at, set()).add((result["scenario"], result["mode"]))
    return found


def _line(text: str, indent: int = 4) -> str:
    first, further = " " * indent + "* ", " " * (indent + 2)
    return textwrap.fill(" ".join(text.split()), _WIDTH, initial_indent=first, subsequent_indent=further)
