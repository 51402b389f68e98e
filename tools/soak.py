"""`python -m tools.soak`: judge the reference adapters by very many generated inputs, for a night.

    python -m tools.soak [--theme T ...] [--examples N] [--adapter SPEC] [--keep DIR] --log FILE
    python -m tools.soak --totals FILE ...

Each round draws new examples for every property of the themes, that is, for each API and method. The log gets a line of
JSON for each search: the theme, the property, the number of judged examples, and the failures. A theme is finished
after N examples (100,000). A run with the same log continues where the last run ended. `--totals` adds up logs by theme
and prints all failures. `--keep` saves the failing inputs in DIR as scenario files. Several processes may work on one
theme, each with a log of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from llm_conformance.adapter import loader
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import ExampleJudge
from llm_conformance.judging.plan import Filters
from llm_conformance.judging.search import find_failures
from llm_conformance.judging.shown.counterexamples import failure_texts
from llm_conformance.locations import RULES
from llm_conformance.pytest_plugin.generated_items import Property, properties
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES

EXAMPLES = 100_000
_ROUND = Effort(20)
"""The examples of one search. Some properties multiply this number."""


def search(searched: Property, rules: Sequence[Rule], runner: Runner, keep: Path | None = None) -> dict[str, Any]:
    """Judge a round's examples of a property. Return the line of the log."""
    judge = ExampleJudge(runner, rules)
    judged = 0

    def cell(scenario: Scenario) -> Cell:
        nonlocal judged
        judged += 1
        return Cell(searched.adapter, scenario, searched.mode, searched.method)

    drawn = searched.theme.scenarios(searched.api, searched.mode)
    find_failures(judge, str(searched), drawn, cell, searched.share(_ROUND))
    wrong = [(rule, found) for rule, result in judge.results.items() for found in result.new]
    return {
        "theme": searched.theme.name,
        "property": str(searched),
        "examples": judged,
        "failures": list(failure_texts(wrong, keep, ())),
    }


def lines(logs: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield the whole lines of logs. If a run was stopped, its last line may be cut."""
    for log in logs:
        for line in log.read_text("utf-8").splitlines() if log.exists() else ():
            if line.endswith("}"):
                yield json.loads(line)


def totals(logs: Sequence[Path]) -> Counter[str]:
    """Return the number of examples in logs by theme."""
    count: Counter[str] = Counter()
    for line in lines(logs):
        count[line["theme"]] += line["examples"]
    return count


def show(logs: Sequence[Path]) -> int:
    """Print the totals and the failures. Return the exit code: 1 if anything has failed."""
    failed = [line for line in lines(logs) if line["failures"]]
    wrong = Counter(line["theme"] for line in failed)
    for theme, count in sorted(totals(logs).items()):
        print(f"{theme:<16}{count:>10,} examples, {wrong[theme]} searches with failures")
    for line in failed:
        print("", line["property"], *line["failures"], sep="\n")
    return 1 if failed else 0


def soak(themes: Sequence[str], examples: int, spec: str, log: Path, keep: Path | None) -> None:
    """Search in rounds until each theme has its examples."""
    runner = Runner(10, ReplayServer())
    rules = [rule for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)]
    adapters = loader.load_all([spec], Path.cwd())
    missing = Counter(dict.fromkeys(themes, examples)) - totals([log])
    try:
        with log.open("a", encoding="utf-8") as written:
            while missing:
                searched = [each for each in properties(adapters, Filters(), True) if each.theme.name in missing]
                random.shuffle(searched)  # so runs that stop early do not all search the same APIs
                for each in searched:
                    line = search(each, rules, runner, keep)
                    print(json.dumps(line), file=written, flush=True)
                    missing -= Counter({each.theme.name: line["examples"]})
    finally:
        runner.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Search, or print the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [theme.name for theme in THEMES]
    parser.add_argument("--theme", action="append", choices=names, metavar="T", help=", ".join(names))
    parser.add_argument("--examples", type=int, default=EXAMPLES, metavar="N", help=f"of each theme ({EXAMPLES:,})")
    parser.add_argument("--adapter", default="adapters", metavar="SPEC", help="what is judged (adapters)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where inputs that fail are kept")
    parser.add_argument("--log", type=Path, metavar="FILE", help="where the searches are noted")
    parser.add_argument("--totals", type=Path, nargs="+", metavar="FILE", help="logs to add up")
    options = parser.parse_args(arguments)
    if options.totals:
        return show(options.totals)
    if not options.log:
        parser.error("--log=FILE is needed")
    soak(options.theme or names, options.examples, options.adapter, options.log, options.keep)
    return show([options.log])


if __name__ == "__main__":
    sys.exit(main())
