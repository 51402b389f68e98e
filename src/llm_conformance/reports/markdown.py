"""A report as Markdown, for the page of a CI run or for a repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import RED, brief, by_family, statuses, verdict
from llm_conformance.rules.catalogue import FAMILIES
from llm_conformance.templating import render as render_template

_SHOWN = 30
_LONGEST = 300


def render(documents: Sequence[Document]) -> str:
    """Return reports as one text with a section for each."""
    return "\n".join(
        render_template("report.md", **_values(document), families=FAMILIES, brief=brief) for document in documents
    )


def _values(document: Document) -> Mapping[str, Any]:
    matrices = [
        {
            **adapter,
            "missed": adapter["not_covered"] + document["bare_recordings"]["not_covered"].get(adapter["name"], 0),
            "apis": by_family(document, adapter["name"]),
            "statuses": {each.value: count for each in Status if (count := statuses(document, adapter["name"])[each])},
        }
        for adapter in document["adapters"]
    ]
    failures: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for result in document["results"]:
        if result["status"] in RED:
            failures.setdefault((result["adapter"], result["rule"]), []).append(result)
    shown = [
        {
            "adapter": adapter,
            "rule": rule,
            "count": len(found),
            "scenario": found[0]["scenario"],
            "message": _in_one_line(found[0]["message"]),
        }
        for (adapter, rule), found in sorted(failures.items(), key=lambda each: -len(each[1]))
    ]
    return {
        **document,
        "verdict": verdict(document),
        "matrices": matrices,
        "failures": shown[:_SHOWN],
        "more": len(shown) - _SHOWN,
        "deviations": list(_deviations(document)),
    }


def _deviations(document: Document) -> Iterator[Mapping[str, Any]]:
    """Yield the known deviations; those of one entry in the file are joined."""
    entries: dict[tuple[str, int, str], list[Mapping[str, Any]]] = {}
    for each in document["deviations"]:
        if each["status"] != "for others":
            entries.setdefault((each["path"], each["line"], each["status"]), []).append(each)
    for first, *others in entries.values():
        where = f"{first['scenario']} and {len(others)} more" if others else first["scenario"]
        yield {**first, "where": _in_one_line(where), "reason": _in_one_line(first["reason"])}


def _in_one_line(text: str | None) -> str:
    """Return a text in one line with its markup escaped, so that it fits in a table."""
    line = " ".join((text or "").split())
    for character in "\\`*_[]<>|":
        line = line.replace(character, f"\\{character}")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip(chr(92))} ..."
