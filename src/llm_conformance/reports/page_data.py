"""The data of the HTML page: compressed, and in parts, so that the browser unpacks at first only what it shows.

A page of ten thousand scenarios has two million results and 250 megabytes of exchanges. So quiet results stay grouped.
Tables hold what the results of an exchange have in common, and texts that occur often. The exchanges are in parts: when
the user opens a cell, the page unpacks one part.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any

from llm_conformance.judging.status import QUIET
from llm_conformance.reports.document import Document
from llm_conformance.reports.grouping import grouped

_IN_A_PART = 50
"""The number of exchanges in a part: some 300 kB of JSON."""
_OF_PLACE = ("adapter", "scenario", "provider", "api", "mode", "method", "provenance", "grounds", "think_profile")
_ELSEWHERE = ("results", "exchanges", "counterexamples")


def packed(value: Any) -> str:
    """Return JSON values as compressed text."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0)).decode("ascii")


class Table:
    """Values that others refer to by their position; each is there once."""

    def __init__(self) -> None:
        self._positions: dict[Any, int] = {}

    def position(self, value: Any) -> int:
        """Return the position of a value, which is added if it is not there."""
        return self._positions.setdefault(value, len(self._positions))

    @property
    def values(self) -> list[Any]:
        """The values, by position."""
        return list(self._positions)


Place = tuple[int, int]
"""The part that an exchange is in, and its position there."""


def exchanges(document: Document, parts: list[str]) -> Mapping[tuple[str, str, str], Place]:
    """Add the exchanges of a report to the parts; return where each is, by adapter, scenario and method."""
    places: dict[tuple[str, str, str], Place] = {}
    part: list[Document] = []
    for each in document["exchanges"]:
        places[each["adapter"], each["scenario"], each["method"]] = len(parts), len(part)
        part.append(each)
        if len(part) == _IN_A_PART:
            parts.append(packed(part))
            part = []
    if part:
        parts.append(packed(part))
    return places


def report(document: Document, places: Mapping[tuple[str, str, str], Place]) -> dict[str, Any]:
    """Return a report for the page.

    `results` are those that are not quiet. Each of `quiet` is the positions of the place, the message and the rules in
    their tables, with the status between. A place ends with that of its exchange, if there is one.
    """
    found, messages, rules = Table(), Table(), Table()
    loud, quiet = [], []
    for each in grouped(document)["results"]:
        exchange = places.get((each["adapter"], each["scenario"], each["method"]))
        place = found.position((*(each.get(name) for name in _OF_PLACE), exchange))
        if "rules" in each and each["status"] in QUIET:
            message, of_rules = messages.position(each["message"]), rules.position(tuple(each["rules"]))
            quiet.append((place, each["status"], message, of_rules))
        else:
            loud.append({**each, "place": place})
    return {
        **{name: value for name, value in document.items() if name not in _ELSEWHERE},
        "of_place": _OF_PLACE,
        "places": found.values,
        "messages": messages.values,
        "rules": rules.values,
        "results": loud,
        "quiet": quiet,
    }


def all_of(documents: Iterable[Document]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the reports for the page, and the parts with their exchanges."""
    parts: list[str] = []
    reports = [report(document, exchanges(document, parts)) for document in documents]
    return reports, parts
