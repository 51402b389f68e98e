"""How the failures of an installed library differ from its known findings.

The known findings are the entries of the library's file of known deviations. They were made with the release that its
`requirements.in` or `package.json` names; an entry with `versions` is only about these.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance import toml_files
from llm_conformance.adapter.libraries import Library
from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.wording import counted

_WIDTH = 110


def before(library: Library, directory: Path) -> Iterator[str]:
    """Yield what is judged, and with which release the known findings were made."""
    document, _ = toml_files.read(library.deviations)
    known = len({each.get("reason") for each in document.get("deviation", ())})
    yield f"{library.package} {library.installed(directory)} is judged through the shim {library.shim}."
    yield f"Its known findings were made with {library.package} {library.release}: {known} in {library.deviations}"


def after(library: Library, directory: Path, report: Document) -> Iterator[str]:
    """Yield which of the known findings are still there, which are gone, and what is new."""
    installed = library.installed(directory)
    release = "the same release" if installed == library.release else f"{library.package} {library.release}"
    yield ""
    yield f"{library.package} {installed} against the known findings of {release}"
    entries = _entries(report)
    there = [each for each in entries if _has(each, Status.EXPECTED)]
    gone = [each for each in entries if not _has(each, Status.EXPECTED) and _has(each, Status.STALE)]
    yield f"  still there: {len(there)} of {len(entries)}"
    seen = _conversations(report)
    for entry in there:
        conversations = {each for at, _ in entry for each in seen.get(at, ())}
        yield _line(f"{_said(entry)} ({_judgement(entry)}{counted(len(conversations), 'conversation')})")
    yield f"  gone: {len(gone)}"
    yield from (_line(_said(entry)) for entry in gone)
    if others := len(entries) - len(there) - len(gone):
        why = "of other versions, of recordings, seen in some runs only, or of a part that this run leaves out"
        yield f"  not asked, or not seen: {others}, {why}"
    new = [each for each in report["findings"] if each["status"] == Status.FAIL]
    yield f"  new: {len(new)}{'; shown above' if new else ''}"
    for each in new:
        where = counted(each["conversations"], "conversation")
        yield _line(f"{each['harm']}: {each['rule']} ({where}): {each['cause']}")


Entry = Sequence[tuple[int, Mapping[str, Any]]]
"""The deviations with the same reason, each with its position in the report."""


def _entries(report: Document) -> Sequence[Entry]:
    """Return the deviations by finding; entries with the same reason are one."""
    found: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for at, each in enumerate(report["deviations"]):
        found.setdefault(each["reason"], []).append((at, each))
    return list(found.values())


def _has(entry: Entry, status: Status) -> bool:
    return any(each["status"] == status for _, each in entry)


def _said(entry: Entry) -> str:
    reason: str = entry[0][1]["reason"]
    return reason


def _judgement(entry: Entry) -> str:
    judgement = entry[0][1].get("judgement", "fault")
    return "" if judgement == "fault" else f"{judgement}, "


def _conversations(report: Document) -> Mapping[int, set[tuple[str, str]]]:
    """Return the conversations that fail as a deviation says, by its position."""
    found: dict[int, set[tuple[str, str]]] = {}
    for result in report["results"]:
        if result["status"] == Status.EXPECTED:
            for at in (result["deviation"], *result.get("further_deviations", ())):
                found.setdefault(at, set()).add((result["scenario"], result["mode"]))
    return found


def _line(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _WIDTH, initial_indent="    * ", subsequent_indent="      ")
