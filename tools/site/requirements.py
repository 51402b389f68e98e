"""The page *Requirements*: what tests each requirement, according to a report on the reference adapters.

The requirements are in docs/requirements.toml.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance.wording import counted
from tools.site.run import Run, Seen
from tools.site.staging import DOCS, ROOT

REQUIREMENTS = DOCS / "requirements.toml"
_SHOWN = 3
_HEAD = """\
# Requirements

What each requirement says, which rules and tests check it, and in which scenarios the reference adapters meet it. The
ids are those of the documents that the project began with. They stand in
[requirements.toml](repo:docs/requirements.toml).
"""


@dataclass(frozen=True)
class Requirement:
    """One requirement, and what tests it or why nothing tests it.

    Attributes:
        rules: The ids of rules that test it.
        scenarios: Globs of the scenarios in which these rules test it.
        tests: Tests of the project, as `file.py` or `file.py::test`.
        out: Why a conformance suite cannot test it; "" if it can.
    """

    id: str
    text: str
    rules: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ("*",)
    tests: tuple[str, ...] = ()
    out: str = ""

    def seen_in(self, seen: Seen) -> list[str]:
        """Return the scenarios of the requirement in which one of its rules has passed."""
        passed = frozenset().union(*(seen.get(rule, frozenset()) for rule in self.rules))
        return sorted(each for each in passed if any(fnmatch.fnmatchcase(each, glob) for glob in self.scenarios))

    def problems(self, seen: Seen, tests: Path) -> Iterator[str]:
        """Yield the problems of the row, one message each."""
        if bool(self.out) == bool(self.rules or self.tests):
            yield f"{self.id}: name rules or tests, or the reason why there are none in `out`, not both"
        for rule in self.rules:
            if rule not in seen:
                yield f"{self.id}: {rule} passes nowhere in the report"
        for glob in self.scenarios if self.rules else ():
            if not fnmatch.filter(self.seen_in(seen), glob):
                yield f"{self.id}: none of its rules passes in a scenario {glob}"
        for test in self.tests:
            file, _, name = test.partition("::")
            if not (tests / file).is_file() or f"def {name}" not in (tests / file).read_text("utf-8"):
                yield f"{self.id}: tests/ has no test {test}"


def read(path: Path) -> dict[str, list[Requirement]]:
    """Read the requirements, grouped by the title of their document."""
    documents: dict[str, dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))
    return {document.pop("title"): [_row(id, row) for id, row in document.items()] for document in documents.values()}


def _row(id: str, row: Mapping[str, Any]) -> Requirement:
    columns: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Requirement(id, **columns)


def problems(run: Run) -> list[str]:
    """Return the problems of all requirements, one message each."""
    every = (row for rows in read(REQUIREMENTS).values() for row in rows)
    return [problem for row in every for problem in row.problems(run.seen, ROOT / "tests")]


def page(run: Run) -> str:
    """Return the whole page."""
    lines, seen = [_HEAD], run.seen
    for title, rows in read(REQUIREMENTS).items():
        lines += [f"## {title}", "", "| id | requirement | tested by | seen in |", "|---|---|---|---|"]
        lines += [f"| {row.id} | {row.text} | {' | '.join(_tested(row, seen))} |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def _tested(row: Requirement, seen: Seen) -> tuple[str, str]:
    if row.out:
        return "nothing", f"out of scope: {row.out}"
    found = row.seen_in(seen)
    few = ", ".join(found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
    where = f"{counted(len(found), 'scenario')}: {few}" if found else "the tests"
    rules = (f"[{rule}](rules/{rule}.md)" for rule in row.rules)
    return ", ".join((*rules, *(f"`{test}`" for test in row.tests))), where
