"""Generate docs/requirements.md: what tests each requirement, by a report of the reference adapters.

    pytest conformance --adapter=adapters --conformance-probes=judge --conformance-report=report.json
    python -m tools.requirements_page docs/requirements.md --report=report.json

The requirements are in docs/requirements.toml. Only recorded cells that passed count; generated ones differ between
runs.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance.wording import counted
from tools import pages

COMMAND = "python -m tools.requirements_page docs/requirements.md --report=report.json"
_SHOWN = 3
_HEAD = f"""\
# Requirements and what tests them

Generated from `requirements.toml` and a report of the reference adapters by

    {COMMAND}

The ids are those of the documents that the project began with. Rules are in `conformance/`, scenarios in `cassettes/`,
tests in `tests/`.
"""

Seen = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Requirement:
    """One requirement and what tests it, or why nothing does.

    Attributes:
        rules: The ids of rules that test it.
        scenarios: Globs of the scenarios in which they do.
        tests: Tests of the project, as `file.py` or `file.py::test`.
        out: Why a conformance suite cannot test it, "" if it can.
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


def passed(report: Mapping[str, Any]) -> Seen:
    """Return for each rule id the recorded scenarios in which it has passed."""
    seen = defaultdict(set)
    for result in report["results"]:
        if result["status"] == "pass" and result["provenance"] != "generated":
            seen[result["rule"]].add(result["scenario"])
    return {rule: frozenset(scenarios) for rule, scenarios in seen.items()}


def page(documents: Mapping[str, list[Requirement]], seen: Seen) -> str:
    """Return the whole page."""
    lines = [_HEAD]
    for title, rows in documents.items():
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
    return ", ".join((*row.rules, *(f"`{test}`" for test in row.tests))), where


def main(arguments: list[str]) -> int:
    """Write or check the page; return 1 if a requirement is wrong or the check finds another page."""
    parser = argparse.ArgumentParser(description="Generate the page of requirements.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--report", type=Path, required=True, help="a JSON report of the reference adapters")
    parser.add_argument("--check", action="store_true", help="only check that the file is up to date")
    options = parser.parse_args(arguments)
    documents = read(options.path.with_suffix(".toml"))
    seen = passed(pages.read_report(options.report))
    tests = options.path.parent.parent / "tests"
    problems = [each for rows in documents.values() for row in rows for each in row.problems(seen, tests)]
    problems = problems or pages.write_or_check(options.path, page(documents, seen), options.check, COMMAND)
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
