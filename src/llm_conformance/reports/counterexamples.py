"""The generated inputs that fail, as files in a report. Another machine can replay the files without drawing inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from llm_conformance import secrets
from llm_conformance.reports.document import Document

_LARGEST = 100_000
_LARGEST_OF_ALL = 4_000_000
"""The highest number of characters of one example, and of all examples of a report."""
_FILE = re.compile(r"[\w-]+/[\w-][\w.-]*\.yaml")


class BadExamplesError(Exception):
    """Examples cannot be written; the message names the file and the problem."""


def listed(found: Mapping[str, Mapping[str, str]]) -> list[Document]:
    """Return examples as JSON values, sorted by id. If they are too large or too many, the largest are left out."""
    sizes = {id: sum(map(len, files.values())) for id, files in found.items()}
    kept, total = [], 0
    for id in sorted(found, key=lambda id: (sizes[id], id)):
        total += sizes[id]
        if sizes[id] <= _LARGEST and total <= _LARGEST_OF_ALL:
            kept.append(id)
    return [{"id": id, "files": {name: secrets.hide(text) for name, text in found[id].items()}} for id in sorted(kept)]


def write(document: Document, directory: Path) -> Iterator[tuple[str, list[Document]]]:
    """Write the examples of a report as scenario files. For each, yield (its id, the results that it explains).

    Raises BadExamplesError, also if a file exists with a different content.
    """
    for each in document.get("counterexamples", ()):
        for name, text in each["files"].items():
            path = directory / name
            if not _FILE.fullmatch(name):
                raise BadExamplesError(f"{name!r} is not the name of a scenario file; the report was altered")
            if path.exists() and path.read_text("utf-8") != text:
                raise BadExamplesError(f"{path}: exists already and is another file; name another directory")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield each["id"], [result for result in document["results"] if _example(result) == each["id"]]


def left_out(document: Document) -> int:
    """Return how many examples of failures the report leaves out because they are too large."""
    kept = {each["id"] for each in document.get("counterexamples", ())}
    return len({id for result in document["results"] if (id := _example(result)) is not None} - kept)


def _example(result: Document) -> str | None:
    id: str | None = (result.get("example") or {}).get("id")
    return id
