"""A report on a server as Markdown, for the page of a CI run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.judging.deviations import SOMETIMES
from llm_conformance.judging.status import Status
from llm_conformance.markup import escaped, fence, in_link, in_one_line
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import verdict
from llm_conformance.server.reports import summary
from llm_conformance.templating import render as render_template

_SHOWN = 30


def render(documents: Sequence[Document]) -> str:
    """Return reports as one text, with a section for each."""
    return "\n".join(render_template("server.md", **_values(document)) for document in documents)


def _values(document: Document) -> Mapping[str, Any]:
    server = document["server"]
    found = summary.of_status(document, Status.FAIL)
    commands = [" ".join(each["command"].split()) for each in found[:_SHOWN]]
    return {
        **document,
        "title": f"{in_one_line(server['model'])} at {in_one_line(server['url'])}",
        "verdict": verdict(document),
        "right": summary.right(document),
        "judged": escaped(summary.sentence(document)),
        "shown": [_finding(each) for each in found[:_SHOWN]],
        "more": len(found) - len(found[:_SHOWN]),
        "new": document["summary"].get(Status.NEW, 0),
        "commands": [f"{each}  # {number}" for number, each in enumerate(commands, start=1)],
        "fence": fence(commands),
        "rows": {
            in_one_line(name): [_rules(row.get(mode)) for mode in ("json", "stream")]
            for name, row in summary.by_conversation(document).items()
        },
        "silent": {
            rule: in_one_line("; ".join(f"{reason} ({count})" for reason, count in reasons.items()))
            for rule, reasons in document["not_judged"].items()
        },
        "known": list(_deviations(document)),
        "cells": summary.cells(document),
    }


def _finding(finding: Mapping[str, Any]) -> Mapping[str, Any]:
    where = summary.where(finding)
    return {
        "harm": finding["harm"],
        "rule": finding["rule"],
        "what": in_one_line(finding["message"]),
        "conversations": len(where),
        "example": in_one_line(where[0]),
    }


def _rules(failing: Sequence[str] | None) -> str:
    if failing is None:
        return "–"
    return ", ".join(failing) or "right"


def _deviations(document: Document) -> Iterator[Mapping[str, Any]]:
    """Yield the known deviations. Deviations from one entry in the file are joined."""
    entries: dict[tuple[str, int, str], list[Mapping[str, Any]]] = {}
    for each in document["deviations"]:
        entries.setdefault((each["path"], each["line"], each["status"]), []).append(each)
    for alike in entries.values():
        first = alike[0]
        yield {
            "rule": ", ".join(dict.fromkeys(each["rule"] for each in alike)),
            "where": in_one_line(", ".join(dict.fromkeys(each["scenario"] for each in alike))),
            "status": first["status"],
            "reason": in_one_line(f"{SOMETIMES if first.get('sometimes') else ''}{first['reason']}"),
            "link": in_link(first["link"]),
        }
