"""The badge: the edition, the verdict of a run of one adapter, and what was judged.

The badge counts the conversations of each provenance separately. A run without a verdict gives a grey badge, which
replaces the badge of an earlier run.
"""

from __future__ import annotations

from collections.abc import Sequence

from llm_conformance.judging.effort import QUICK
from llm_conformance.reports import judged
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import NO_VERDICT, verdict, why_no_verdict
from llm_conformance.templating import render as render_template
from llm_conformance.wording import printable

_CHARACTER = 6.6
"""The approximate width of a character in pixels; `textLength` stretches the text to the computed width."""

GREEN, RED, AMBER, GREY = "#2f7d32", "#b3261e", "#8a6100", "#5f6368"


class NoBadgeError(Exception):
    """There is no badge for this report; the message says why."""


def render(documents: Sequence[Document]) -> str:
    """Return the badge as SVG. Raises NoBadgeError if the reports are of several adapters."""
    document = documents[0]
    if len(documents) > 1 or len(document["adapters"]) != 1:
        raise NoBadgeError("a badge is for one adapter")
    suite, (adapter,) = document["suite"], document["adapters"]
    found = judged.read(document, adapter["name"])
    text, why = verdict(document), ""
    if text in NO_VERDICT:
        why, colour = why_no_verdict(document), GREY
    elif document["examples"] < QUICK:
        why = f"it needs {QUICK} generated examples per property, the run had {document['examples']}"
        text, colour = "too few examples", GREY
    else:
        colour = AMBER if text != "failing" else RED
        if text == "conforms" and found.is_held_to_all:
            colour = GREEN
        text = f"{text}: {found.short}"
    transport = "" if document["transport"] == "server" else ", replayed without a server"
    name = printable(f"{adapter['name']} {adapter['version'] or ''}".strip())
    of_run = f"scenarios {suite['scenarios_digest']}, {document['examples']} examples per property{transport}"
    edition = document["edition"]
    about = f"{why or found.sentence}; llm-conformance {suite['version']}, edition {edition}, {of_run}"
    return drawn(edition, text, colour, f"{name}: {text} ({about})")


def drawn(edition: str, text: str, colour: str, title: str) -> str:
    """Return a badge as SVG: the suite and the edition on the left, a text on the right."""
    label = f"llm-conformance {edition}"
    left, right = (round(len(part) * _CHARACTER) + 12 for part in (label, text))
    return render_template("badge.svg", label=label, text=text, left=left, right=right, colour=colour, title=title)
