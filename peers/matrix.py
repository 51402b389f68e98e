"""The matrix of the field as a page: what each library does of what is judged, and why it does not do the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import Counts, by_family
from llm_conformance.rules.catalogue import FAMILIES

_WRONG = (Status.FAIL, Status.EXPECTED, Status.STALE)

_HEAD = """\
# The field

What the suite says of libraries that people use: of each the newest release on the date of the report, through a shim
in `peers/` that maps what the library gives its users and repairs nothing. Made by `python -m peers`, which installs
each in an environment of its own. Only recorded scenarios are judged here, no generated inputs.

A field says how many cells are right of those judged; one number alone: all of them. `unsup.`: the library does not
claim it. What is wrong is listed below, with the reason. Where the fault is the suite's or the shim's, tell us.
"""


def page(reports: Mapping[str, Document], missing: Mapping[str, str]) -> str:
    """Return the page, by the folders of libraries; `missing` are those without a report, and why."""
    told = (line for name, report in reports.items() for line in _deviations(name, report))
    return "\n".join([_HEAD, *_table(reports, missing), *told])


def _table(reports: Mapping[str, Document], missing: Mapping[str, str]) -> Iterator[str]:
    yield f"| library | date | provider | {' | '.join(FAMILIES)} |"
    yield f"|---|---|---|{'---:|' * len(FAMILIES)}"
    for report in reports.values():
        (adapter,) = report["adapters"]
        for row, families in by_family(report, adapter["name"]).items():
            cells = (_field(families.get(family, Counter())) for family in FAMILIES)
            library = f"{adapter['name']} {adapter['version'] or ''}".strip()
            yield f"| {library} | {report['finished'][:10]} | {row} | {' | '.join(cells)} |"
    yield ""
    for name, why in missing.items():
        yield f"{name}: {why}, so nothing is said of it.\n"


def _field(counts: Counts) -> str:
    right, wrong = counts[Status.PASS], sum(counts[status] for status in _WRONG)
    if right or wrong:
        return f"{right}/{right + wrong}" if wrong else str(right)
    return "unsup." if counts[Status.UNSUPPORTED] else "-"


def _deviations(name: str, report: Document) -> Iterator[str]:
    (adapter,) = report["adapters"]
    yield f"## {name}: {adapter['name']} {adapter['version'] or ''}".rstrip()
    yield ""
    causes: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    for result in report["results"]:
        if result["status"] == Status.EXPECTED:
            known: Mapping[str, Any] = report["deviations"][result["deviation"]]
            rules = causes.setdefault((known["reason"], known["link"]), {})
            rules.setdefault(result["rule"], Counter())[result["scenario"]] += 1
    for (reason, link), rules in sorted(causes.items(), key=lambda each: sorted(each[1])):
        cells = sum(sum(found.values()) for found in rules.values())
        example = next(iter(next(iter(rules.values()))))
        yield f"* {', '.join(sorted(rules))} ({cells} cells, as in `{example}`): [{reason}]({link})"
    wrong = sum(result["status"] == Status.FAIL for result in report["results"])
    if wrong:
        yield f"* {wrong} cells fail that nobody has looked at yet."
    if not causes and not wrong:
        yield "Nothing is wrong."
    yield ""
