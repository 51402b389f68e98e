"""The badge of a server: the edition, the verdict of one run, and what was judged. It looks like an adapter's badge."""

from __future__ import annotations

from collections.abc import Sequence

from llm_conformance.reports.document import Document
from llm_conformance.reports.forms.badge import AMBER, GREEN, GREY, RED, NoBadgeError, drawn
from llm_conformance.reports.matrix import NO_VERDICT, verdict
from llm_conformance.server.reports import summary
from llm_conformance.wording import counted, printable


def render(documents: Sequence[Document]) -> str:
    """Return the badge as SVG. Raises NoBadgeError if there are several reports."""
    if len(documents) != 1:
        raise NoBadgeError("a badge is for one server and one wire format")
    (document,) = documents
    server, suite, missing = document["server"], document["suite"], document["server"]["not_claimed"]
    found = verdict(document)
    text, colour, why = found, GREY, NO_VERDICT.get(found, "")
    if not why:
        colour = RED if found == "failing" else GREEN if found == "conforms" and not missing else AMBER
        text = f"{found}: {server['api']}, {counted(summary.right(document).judged, 'conversation')}"
        text += f", {len(missing)} not claimed" if missing else ""
    about = f"{why or summary.sentence(document)}; llm-conformance {suite['version']}, edition {document['edition']}"
    named = printable(f"{server['model']} at {server['url']}")
    return drawn(document["edition"], text, colour, f"{named}: {text} ({about})")
