"""Report files: where they go, written in the form that the suffix names, and read again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from llm_conformance import schema
from llm_conformance.reports import badge, markdown, page
from llm_conformance.reports.document import Document
from llm_conformance.yaml_files import BadFileError, FileProblem

_LISTS = ("results", "exchanges", "deviations")


def _json(documents: Sequence[Document]) -> str:
    """Return a report with one result a line: some ten thousand of them are read, compared and searched by lines."""
    (whole,) = documents
    parts = []
    for name, value in whole.items():
        if name in _LISTS and value:
            lines = ",\n  ".join(json.dumps(each, ensure_ascii=False, allow_nan=False) for each in value)
            parts.append(f"{json.dumps(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


FORMS: Mapping[str, Callable[[Sequence[Document]], str]] = {
    ".json": _json,
    ".html": page.render,
    ".md": markdown.render,
    ".svg": badge.render,
}
"""By suffix, what makes a text of reports; only the page and the summary show several."""


def destinations(names: Iterable[str], base: Path) -> list[Path]:
    """Return where reports go. Raises UsageError for a suffix that no report has or a directory that is not there."""
    found = [base / name for name in names]
    problems = [f"--conformance-report={path}: {problem}" for path in found if (problem := _unusable(path))]
    if problems:
        raise pytest.UsageError("\n".join(problems))
    return found


def _unusable(path: Path) -> str | None:
    if path.suffix not in FORMS:
        return f"the suffix has to be one of {', '.join(FORMS)}"
    if path.is_dir():
        return "this is a directory"
    return None if path.parent.is_dir() else "no such directory"


def write(path: Path, *documents: Document) -> None:
    """Write reports to a file, in the form of its suffix. Raises NoBadgeError for a badge of what earns none."""
    text = FORMS[path.suffix](documents)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def read(path: Path) -> Document:
    """Read a JSON report. Raises BadFileError if it is none."""
    try:
        document: Document = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadFileError(FileProblem(path, 1, f"cannot be read: {error.strerror}")) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise BadFileError(FileProblem(path, 1, f"is no JSON report: {error}")) from error
    except json.JSONDecodeError as error:
        raise BadFileError(FileProblem(path, error.lineno, f"is no JSON report: {error.msg}")) from error
    problems = [
        FileProblem(path, 1, f"{'.'.join(map(str, where)) or 'the report'}: {message}")
        for where, message in schema.problems("report", document)
    ]
    if problems:
        raise BadFileError(*problems[:20])
    return document
