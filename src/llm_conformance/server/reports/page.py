"""A report on a server as one HTML page without scripts, which loads no other file.

Everything is escaped, because a stranger wrote the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import verdict
from llm_conformance.rules.rule import HARM_MEANINGS
from llm_conformance.server.reports import summary
from llm_conformance.templating import render as render_template
from llm_conformance.templating import text_of
from llm_conformance.wording import printable


def render(documents: Sequence[Document]) -> str:
    """Return the page of reports, one below the other."""
    shown = [_printable(each) for each in documents]
    named = list(dict.fromkeys(each["server"]["url"] for each in shown))
    return render_template(
        "server.html",
        title=f"{', '.join(named)}: conformance",
        style=Markup(text_of("page.css") + text_of("server.css")),  # noqa: S704 - files of this package
        reports=[_values(document) for document in shown],
    )


def _values(document: Document) -> Mapping[str, Any]:
    text = verdict(document)
    kinds = {"conforms": "pass", "failing": "fail"}
    return {
        **document,
        "verdict": text,
        "kind": kinds.get(text, ""),
        "right": summary.right(document),
        "judged": summary.sentence(document),
        "harms": [
            (harm, HARM_MEANINGS.get(harm, ""), [_finding(each, document) for each in found])
            for harm, found in groupby(summary.of_status(document, Status.FAIL), lambda each: each["harm"])
        ],
        "accepted": [_finding(each, document) for each in summary.of_status(document, Status.EXPECTED)],
        "rows": summary.by_conversation(document),
        "cells": summary.cells(document),
    }


def _finding(finding: Mapping[str, Any], document: Document) -> Mapping[str, Any]:
    wanted = [tuple(each) for each in finding["failures"]]
    return {
        **finding,
        "where": summary.where(finding),
        "exchanges": [each for each in document["exchanges"] if (each["conversation"], each["mode"]) in wanted],
    }


def _printable(value: Any) -> Any:
    """Return a JSON value. Control characters in it, such as marks of direction, are escaped; line breaks are kept."""
    if isinstance(value, str):
        return "\n".join(printable(each.removesuffix("\r")) for each in value.split("\n"))
    if isinstance(value, Mapping):
        return {_printable(name): _printable(each) for name, each in value.items()}
    return [_printable(each) for each in value] if isinstance(value, list) else value
