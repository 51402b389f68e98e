"""Report files: checking where they can be written, writing them in the form of their suffix, reading JSON reports."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from llm_conformance import schema
from llm_conformance.options import as_typed
from llm_conformance.reports import badge, grouping, markdown, page
from llm_conformance.reports.document import Document
from llm_conformance.yaml_files import BadFileError, FileProblem

_LISTS = ("findings", "conversations", "results", "exchanges", "counterexamples", "deviations")


def _json(documents: Sequence[Document]) -> str:
    """Return a report with one result per line, so that its results can be searched and compared by line."""
    (whole,) = documents
    report = grouping.grouped(whole)
    parts = []
    for name, value in report.items():
        if name in _LISTS and value:
            lines = ",\n  ".join(json.dumps(each, ensure_ascii=False, allow_nan=False) for each in value)
            parts.append(f"{json.dumps(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


BADGE = ".svg"
FORMS: Mapping[str, Callable[[Sequence[Document]], str]] = {
    ".json": _json,
    ".html": page.render,
    ".md": markdown.render,
    BADGE: badge.render,
}
"""By suffix, the function that renders reports. Only the page and the summary can show several."""


class BadDestinationError(Exception):
    """Reports cannot be written where the user wants them; the message names each file and its problem."""


def destinations(names: Iterable[str], base: Path) -> list[Path]:
    """Return the paths of reports. Raises BadDestinationError for an unknown suffix or a missing directory."""
    found = [base / name for name in names]
    problems = [f"{as_typed('report')}={path}: {problem}" for path in found if (problem := _unusable(path))]
    if problems:
        raise BadDestinationError("\n".join(problems))
    return found


def _unusable(path: Path) -> str | None:
    if path.suffix not in FORMS:
        return f"the suffix must be one of {', '.join(FORMS)}"
    if path.is_dir():
        return "this is a directory"
    return None if path.parent.is_dir() else "no such directory"


def write(path: Path, *documents: Document) -> None:
    """Write reports to a file, in the form of its suffix; a part of a report is never left.

    Raises NoBadgeError if there is no badge for them, and OSError if the file cannot be written.
    """
    text = FORMS[path.suffix](documents)
    file = path.open("w", encoding="utf-8", errors="backslashreplace")
    try:
        with file:
            file.write(text)
    except OSError:  # the disk is full
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def read(path: Path) -> Document:
    """Read a JSON report. Raises BadFileError if the file is not one."""
    try:
        document: Document = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadFileError(FileProblem(path, 1, f"cannot be read: {error.strerror}")) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise BadFileError(FileProblem(path, 1, f"is not a JSON report: {error}")) from error
    except json.JSONDecodeError as error:
        raise BadFileError(FileProblem(path, error.lineno, f"is not a JSON report: {error.msg}")) from error
    problems = [
        FileProblem(path, 1, f"{'.'.join(map(str, where)) or 'the report'}: {message}")
        for where, message in schema.problems("report", document)
    ]
    if problems:
        raise BadFileError(*problems[:20])
    return grouping.one_by_one(document)
