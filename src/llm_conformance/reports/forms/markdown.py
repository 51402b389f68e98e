"""A report as Markdown, for the page of a CI run or for a repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.judging.deviations import SOMETIMES
from llm_conformance.judging.status import Status
from llm_conformance.markup import escaped, fence, in_link, in_one_line
from llm_conformance.reports import judged
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import Matrix, verdict, why_no_verdict
from llm_conformance.templating import render as render_template
from llm_conformance.wording import shortened_before_hint

_SHOWN = 300
"""How many findings are shown at most. GitHub accepts 1 MiB for a step's summary; a finding is below 1 kB."""

_LONGEST_MESSAGE = 200


def render(documents: Sequence[Document]) -> str:
    """Return reports as one text with a section for each adapter."""
    return "\n".join(render_template("report.md", **_values(document)) for document in documents)


def _values(document: Document) -> Mapping[str, Any]:
    summary = document["summary"]
    return {
        **document,
        "verdict": verdict(document),
        "why_no_verdict": in_one_line(why_no_verdict(document)),
        "adapters": [
            {**adapter, **_of_adapter(document, adapter), **_named(adapter)} for adapter in document["adapters"]
        ],
        "bad_files": list(map(in_one_line, document["bare_recordings"]["bad_files"])),
        "cells": [f"{summary[status]} {status}" for status in Status if status in summary],
        "deviations": list(_deviations(document)),
    }


def _of_adapter(document: Document, adapter: Mapping[str, Any]) -> Mapping[str, Any]:
    name = adapter["name"]
    matrix = Matrix(document["conversations"], name)
    found = [each for each in document["findings"] if each["adapter"] == name and each["status"] == Status.FAIL]
    shown = [_finding(each) for each in found[:_SHOWN]]
    commands = [f"{each['command']}  # {number}" for number, each in enumerate(shown, start=1) if each["command"]]
    return {
        "right": [f"{field.right} of {field.judged} {name}" for name, field in matrix.by_provenance.items()],
        "judged": escaped(judged.read(document, name).sentence),
        "missed": adapter["not_covered"] + document["bare_recordings"]["not_covered"].get(name, 0),
        "new": sum(each["adapter"] == name and each["status"] == Status.NEW for each in document["results"]),
        "findings": shown,
        "more": len(found) - len(shown),
        "commands": commands,
        "fence": fence(commands),
        "columns": matrix.columns,
        "apis": {in_one_line(api): fields for api, fields in matrix.rows.items()},
    }


def _named(adapter: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the name, version and declarations of an adapter."""
    name, version, providers = adapter["name"], adapter["version"], adapter["providers"]
    return {
        "name": in_one_line(name),
        "version": in_one_line(version),
        "providers": list(map(in_one_line, providers)),
    }


def _finding(finding: Mapping[str, Any]) -> Mapping[str, Any]:
    cause = f"{finding['cause']}: " if "traceback" in finding else ""
    examples = finding["examples"]
    return {
        **finding,
        "what": escaped(shortened_before_hint(f"{cause}{finding['message']}", _LONGEST_MESSAGE)),
        "example": in_one_line(examples[0]["scenario"]),
        "command": next((" ".join(each["command"].split()) for each in examples if each.get("command")), None),
    }


def _deviations(document: Document) -> Iterator[Mapping[str, Any]]:
    """Yield the known deviations. Those of one entry in the file are joined."""
    entries: dict[tuple[str, int, str], list[Mapping[str, Any]]] = {}
    for each in document["deviations"]:
        if each["status"] != "for others":
            entries.setdefault((each["path"], each["line"], each["status"]), []).append(each)
    for first, *others in entries.values():
        where = f"{first['scenario']} and {len(others)} more" if others else first["scenario"]
        yield {
            **first,
            "where": in_one_line(where),
            "reason": in_one_line(f"{SOMETIMES if first.get('sometimes') else ''}{first['reason']}"),
            "link": in_link(first["link"]),
        }
