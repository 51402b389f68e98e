"""Report files: check where they can be written, write them in the form of their suffix, read JSON reports."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance import schema
from llm_conformance.reports import grouping
from llm_conformance.reports.document import Document
from llm_conformance.reports.forms import badge, markdown, page
from llm_conformance.yaml_files import BadFileError, FileProblem

_LISTS = ("findings", "conversations", "results", "exchanges", "counterexamples", "deviations")


def _json(documents: Sequence[Document]) -> Iterator[str]:
    """Yield the pieces of a report with one result per line, so that it can be searched and compared by line."""
    (whole,) = documents
    for number, (name, value) in enumerate(grouping.grouped(whole).items()):
        yield ",\n " if number else "{\n "
        if name in _LISTS and len(value):
            yield f"{json.dumps(name)}: ["
            for at, each in enumerate(value):
                yield f"{',' if at else ''}\n  {json.dumps(each, ensure_ascii=False, allow_nan=False)}"
            yield "\n ]"
        else:
            yield f"{json.dumps(name)}: {json.dumps([] if name in _LISTS else value, ensure_ascii=False)}"
    yield "\n}\n"


def _whole(render: Callable[[Sequence[Document]], str]) -> Callable[[Sequence[Document]], Iterable[str]]:
    return lambda documents: [render(documents)]


BADGE = ".svg"
FORMS: Mapping[str, Callable[[Sequence[Document]], Iterable[str]]] = {
    ".json": _json,
    ".html": _whole(page.render),
    ".md": _whole(markdown.render),
    BADGE: _whole(badge.render),
}
"""Maps a suffix to the function that renders reports in pieces. Only page and summary can show several reports."""


class BadDestinationError(Exception):
    """Reports cannot be written where the user wants them; the message names each file and its problem."""


def destinations(names: Iterable[str], base: Path, option: str) -> list[Path]:
    """Return the paths of reports that the user named with `option`.

    Raises BadDestinationError for an unknown suffix, a missing directory, and a file that cannot be written.
    """
    found = [base / name for name in names]
    problems = [f"{option}={path}: {problem}" for path in found if (problem := _unusable(path))]
    if problems:
        raise BadDestinationError("\n".join(problems))
    return found


def _unusable(path: Path) -> str | None:
    if path.suffix not in FORMS:
        return f"the suffix must be one of {', '.join(FORMS)}"
    try:
        if path.is_dir():
            return "this is a directory"
        return why_not_written(path) if path.parent.is_dir() else "no such directory"
    except OSError as error:  # the name is too long, or a directory above may not be read
        return f"cannot be written: {error.strerror}"


def why_not_new(path: Path) -> str | None:
    """Return why a new file cannot be written; None if it can. A file that exists is never overwritten."""
    try:
        if path.exists():
            return "exists already and is not overwritten; name another file"
        if not path.parent.is_dir():
            return f"no such directory: {path.parent}"
    except OSError as error:  # the name is too long, or a directory above may not be read
        return f"cannot be written: {error.strerror}"
    return why_not_written(path)


def why_not_written(path: Path) -> str | None:
    """Return why a file cannot be written; None if it can. An existing file is unchanged; a new one is removed."""
    try:
        try:
            path.open("xb").close()
        except FileExistsError:
            if path.is_file():  # opening a pipe would wait for its reader
                os.close(os.open(path, os.O_WRONLY))
        else:
            path.unlink(missing_ok=True)
    except FileNotFoundError:  # another process of the run checks the same file
        return None
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return None


def write(path: Path, *documents: Document) -> None:
    """Write reports to a file, in the form of its suffix. The file is complete or not written.

    Raises NoBadgeError if there is no badge for them, and OSError if the file cannot be written.
    """
    write_pieces(path, FORMS[path.suffix](documents))


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write the pieces of a file. The file is complete or not written. Raises OSError if it cannot be written."""
    file = path.open("w", encoding="utf-8", errors="backslashreplace")
    try:
        with file:
            file.writelines(pieces)
    except BaseException:  # the disk is full, or the user interrupted the run
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def read(path: Path) -> Document:
    """Read a JSON report. Raises BadFileError if the file is not one."""
    return of_adapters(path, loaded(path))


def loaded(path: Path) -> Any:
    """Read a JSON file. Raises BadFileError if the file is not one."""
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadFileError(FileProblem(path, 1, f"cannot be read: {error.strerror}")) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise BadFileError(FileProblem(path, 1, f"is not a JSON report: {error}")) from error
    except json.JSONDecodeError as error:
        raise BadFileError(FileProblem(path, error.lineno, f"is not a JSON report: {error.msg}")) from error


def of_adapters(path: Path, document: Any) -> Document:
    """Return `document` if it is a report on adapters. Raises BadFileError if it is not."""
    return grouping.one_by_one(checked(path, document, "report"))


def checked(path: Path, document: Any, form: str) -> Document:
    """Return `document` if it is valid against the schema named `form`. Raises BadFileError if it is not."""
    problems = [
        FileProblem(path, 1, f"{'.'.join(map(str, where)) or 'the report'}: {message}")
        for where, message in schema.problems(form, document)
    ]
    if problems:
        raise BadFileError(*problems[:20])
    found: Document = document
    return found
