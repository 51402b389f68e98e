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
"""Maps a suffix to the function that renders reports. Only the page and the summary can show several reports."""


def is_report(document: Any) -> bool:
    """Return True if the content of a JSON file is a report on a server, not on adapters."""
    return isinstance(document, Mapping) and "server" in document and "adapters" not in document


def checked(path: Path, document: Any) -> Document:
    """Return `document` if it is a report on a server. Raises BadFileError if it is not."""
    return files.checked(path, document, "server-report")


def write(path: Path, *documents: Document) -> None:
    """Write reports to a file, in the form of its suffix. The file is complete or not written.

    Raises NoBadgeError if there is no badge for them, and OSError if the file cannot be written.
    """
    files.write_pieces(path, [FORMS[path.suffix](documents)])
