"""The badge: the edition and the verdict of a complete run of one adapter.

It has no number of conversations: those of different provenance are not added up.
"""

from __future__ import annotations

from collections.abc import Sequence

from llm_conformance.judging.effort import QUICK
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import verdict
from llm_conformance.templating import render as render_template

_CHARACTER = 6.6
"""The approximate width of a character in pixels; `textLength` stretches the text to the computed width."""

_COLOURS = {"conforms": "#2f7d32", "failing": "#b3261e"}
_OTHERS = "#8a6100"


class NoBadgeError(Exception):
    """There is no badge for this report; the message says why."""


def render(documents: Sequence[Document]) -> str:
    """Return the badge as SVG.

    Raises:
        NoBadgeError: The report is of several adapters or of a partial run, or the suite itself has failed.
    """
    document = documents[0]
    text = verdict(document)
    if len(documents) > 1 or len(document["adapters"]) != 1:
        raise NoBadgeError("a badge is for one adapter")
    if text in ("partial", "suite error", "nothing judged"):
        why = {"partial": "not every rule was applied to every scenario", "suite error": "the suite itself failed"}
        raise NoBadgeError(why.get(text, text))
    if document["examples"] < QUICK:
        raise NoBadgeError(f"it needs {QUICK} generated examples per property, the run had {document['examples']}")
    suite, (adapter,) = document["suite"], document["adapters"]
    label = f"llm-conformance {document['edition']}"
    left, right = (round(len(part) * _CHARACTER) + 12 for part in (label, text))
    return render_template(
        "badge.svg",
        label=label,
        text=text,
        left=left,
        right=right,
        colour=_COLOURS.get(text, _OTHERS),
        adapter=adapter,
        suite=suite,
        edition=document["edition"],
        examples=document["examples"],
        transport="" if document["transport"] == "server" else ", replayed without a server",
    )
