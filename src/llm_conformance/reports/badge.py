"""A badge: what a complete run of one adapter came to, bound to the suite and the version that it speaks of."""

from __future__ import annotations

from collections.abc import Sequence

from llm_conformance.judging.effort import QUICK
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import verdict
from llm_conformance.templating import render as render_template

_CHARACTER = 6.6
"""About how wide a character of the badge's font is, in pixels; the text is stretched to what is reckoned."""

_COLOURS = {"conforms": "#2f7d32", "failing": "#b3261e"}
_OTHERS = "#8a6100"


class NoBadgeError(Exception):
    """The report is of a kind that earns no badge; the message says why."""


def render(documents: Sequence[Document]) -> str:
    """Return the badge as SVG. Raises NoBadgeError for several adapters, a partial run, or the suite's own fault."""
    document = documents[0]
    said = verdict(document)
    if len(documents) > 1 or len(document["adapters"]) != 1:
        raise NoBadgeError("a badge is of one adapter")
    if said in ("partial", "suite error", "nothing judged"):
        why = {"partial": "not all rules were applied to all scenarios", "suite error": "the suite itself has failed"}
        raise NoBadgeError(f"no badge: {why.get(said, said)}")
    if document["examples"] < QUICK:
        raise NoBadgeError(f"no badge: {document['examples']} generated examples a property are fewer than {QUICK}")
    suite, (adapter,) = document["suite"], document["adapters"]
    left, right = (round(len(text) * _CHARACTER) + 12 for text in ("llm-conformance", said))
    return render_template(
        "badge.svg",
        said=said,
        left=left,
        right=right,
        colour=_COLOURS.get(said, _OTHERS),
        adapter=adapter,
        suite=suite,
        examples=document["examples"],
        transport="" if document["transport"] == "server" else ", replayed within the process",
    )
