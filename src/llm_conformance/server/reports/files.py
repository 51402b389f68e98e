"""Reports on a server as files: the suffix selects the form, as for adapters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

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


def write(path: Path, *documents: Document) -> None:
    """Write reports to a file, in the form of its suffix; a part of a report is never left.

    Raises NoBadgeError if there is no badge for them, and OSError if the file cannot be written.
    """
    files.write_pieces(path, [FORMS[path.suffix](documents)])
