"""A report as one HTML page that loads no other file: the findings, the matrix, and the exchange of every cell.

The data is compressed, and the browser unpacks it. The page shows it as text, never as markup, because adapters and
providers wrote parts of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from llm_conformance.reports import judged
from llm_conformance.reports.document import Document
from llm_conformance.reports.forms import page_data
from llm_conformance.reports.matrix import verdict, why_no_verdict
from llm_conformance.rules import catalogue
from llm_conformance.rules.rule import HARM_MEANINGS
from llm_conformance.templating import render as render_template
from llm_conformance.templating import text_of

_SCRIPTS = ("page_data.js", "page_findings.js", "page_matrix.js", "page_detail.js", "page.js")
_NAMED = 4
"""The highest number of adapters in the title."""


def render(documents: Sequence[Document]) -> str:
    """Return the page of one or several reports, with all their adapters side by side."""
    reports, parts = page_data.all_of(documents)
    data = {
        "families": list(catalogue.FAMILY_QUESTIONS.items()),
        "harms": list(HARM_MEANINGS.items()),
        "rules": {
            entry.id: {"requirement": entry.rule.requirement, "reason": entry.reason, "noticed": entry.noticed}
            for entry in catalogue.catalogue().values()
        },
        "reports": [
            {**report, "verdict": verdict(document), "why": why_no_verdict(document), "told": _told(document)}
            for report, document in zip(reports, documents, strict=True)
        ],
    }
    names = [f"{each['name']} {each['version'] or ''}".strip() for one in documents for each in one["adapters"]]
    judged = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} adapters"
    return render_template(
        "page.html",
        title=f"{judged}: conformance",
        style=Markup(text_of("page.css")),  # noqa: S704 - files of this package
        script=Markup("\n".join(map(text_of, _SCRIPTS))),  # noqa: S704
        data=page_data.packed(data),
        exchanges=parts,
    )


def _told(document: Document) -> Mapping[str, str]:
    """Map each adapter to a sentence about what was judged."""
    return {each["name"]: judged.read(document, each["name"]).sentence for each in document["adapters"]}
