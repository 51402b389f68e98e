"""A report as one HTML page that needs nothing else: the matrix, and every cell with what is behind it.

The data is compressed, as it repeats itself a lot, and unpacked by the browser; the page shows it as text only, never
as markup, since adapters and providers wrote it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence

from markupsafe import Markup

from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import verdict
from llm_conformance.rules import catalogue
from llm_conformance.rules.catalogue import FAMILIES
from llm_conformance.templating import render as render_template
from llm_conformance.templating import text_of

_NAMED = 4
"""How many adapters the title names."""


def render(documents: Sequence[Document]) -> str:
    """Return the page of one report or of several, whose adapters then stand side by side."""
    told = {
        "families": FAMILIES,
        "rules": {
            rule.id: {"requirement": rule.rule.requirement, "reason": rule.reason}
            for rule in catalogue.catalogue().values()
        },
        "reports": [{**document, "verdict": verdict(document)} for document in documents],
    }
    packed = gzip.compress(
        json.dumps(told, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace"), mtime=0
    )
    names = [f"{each['name']} {each['version'] or ''}".strip() for one in documents for each in one["adapters"]]
    judged = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} adapters"
    return render_template(
        "page.html",
        title=f"{judged}: conformance",
        style=Markup(text_of("page.css")),  # noqa: S704 - files of this package
        script=Markup(text_of("page.js")),  # noqa: S704
        data=base64.b64encode(packed).decode("ascii"),
    )
