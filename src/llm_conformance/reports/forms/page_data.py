"""The data of the HTML page, compressed in parts, so that the browser first unpacks only what it shows.

A page of ten thousand scenarios has two million results and 250 megabytes of exchanges. So quiet results stay grouped.
Tables hold what the results of an exchange share, and texts that occur often. The exchanges are split into parts: if
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
    """A list of different values. Other data refers to a value by its position."""

    def __init__(self) -> None:
        self._positions: dict[Any, int] = {}

    def position(self, value: Any) -> int:
        """Return the position of a value. Adds the value if it is new."""
        return self._positions.setdefault(value, len(self._positions))

    @property
    def values(self) -> list[Any]:
        """The values, by position."""
        return list(self._positions)


Place = tuple[int, int]
"""(number of the part with an exchange, position in that part)"""


def exchanges(document: Document, parts: list[str]) -> Mapping[tuple[str, str, str], Place]:
    """Add the exchanges of a report to the parts. Map (adapter, scenario, method) to the place of its exchange."""
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

    `results` are the results that are not quiet. An item of `quiet` has the status, and positions in the tables of
    places, messages and rules. Each entry of `places` ends with the `Place` of its exchange; None if there is none.
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
    """Return (reports for the page, parts with their exchanges)."""
    parts: list[str] = []
    reports = [report(document, exchanges(document, parts)) for document in documents]
    return reports, parts
