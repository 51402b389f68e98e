"""Reports on a server as files: the suffix selects the form, as for adapters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance.reports import files
from llm_conformance.reports.document import Document
from llm_conformance.server.reports import badge, markdown, page


def _json(documents: Sequence[Document]) -> str:
    (whole,) = documents
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


FORMS: Mapping[str, Callable[[Sequence[Document]], str]] = {
    ".json": _json,
    ".html": page.render,
    ".md": markdown.render,
    files.BADGE: badge.render,
}
"""By suffix, the function that renders reports. Only the page and the summary can show several."""


def is_report(document: Any) -> bool:
    """Return True if what was read from a JSON file is a report on a server, and not on adapters."""
    return isinstance(document, Mapping) and "server" in document and "adapters" not in document


def checked(path: Path, document: Any) -> Document:
    """Return a report that has been read. Raises BadFileError if it has not the form of one."""
    return files.checked(path, document, "server-report")


def write(path: Path, *documents: Document) -> None:
    """Write reports to a file, in the form of its suffix; a part of a report is never left.

    Raises NoBadgeError if there is no badge for them, and OSError if the file cannot be written.
    """
    files.write_pieces(path, [FORMS[path.suffix](documents)])
