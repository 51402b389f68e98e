"""`python -m tools.found_by_search`: list the faults of `tests/broken` that generated inputs find.

    python -m tools.found_by_search [--examples E] [--family F ...] [--adapter NAME ...] [--all-apis]
                                    [--as-found] [--write FILE]

Each broken adapter is judged by generated inputs only. The search draws as many examples as a run with `--examples=E`
(`ci` if E is not given). For each adapter, the table says which rules fail, how many examples the search needed, the
smallest value of `--examples` that draws so many, and the shortest example. The search covers the first API of each
wire format, or all APIs with `--all-apis`. All families take about an hour of CPU time. `--as-found` shows the first
failing example instead of the shortest; this takes a third of the time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from llm_conformance.adapter import declarations
from llm_conformance.judging import plan
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import ExampleJudge
from llm_conformance.judging.search import find_failures
from llm_conformance.judging.shown.counterexamples import Counterexample
from llm_conformance.locations import RULES
from llm_conformance.pytest_plugin.generated_items import Property, properties
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.draw import EnoughDrawn
from llm_conformance.wire import answers
from tests.broken import BROKEN
from tests.broken.base import Broken
from tests.broken.message import TagInAnyCaseOfUnicode
from tests.broken.splitters import SPLITTERS

EFFORTS = ("quick", "ci", "deep")
ADAPTERS: tuple[type[Broken], ...] = (*BROKEN, TagInAnyCaseOfUnicode, *SPLITTERS)
_WIDTH = 100
_HEAD = "| adapter | found with | by | in | example of | the shortest example |\n|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Found:
    """How generated inputs found a fault.

    Attributes:
        effort: The smallest of `EFFORTS` that draws at least `examples` examples; "" if none does.
        examples: The number of examples that were judged, up to the first one that failed.
        where: The property that was searched: a theme, an API, a mode and a method.
        rules: The rules that fail.
        smallest: The smallest counterexample.
    """

    effort: str
    examples: int
    where: Property
    rules: tuple[str, ...]
    smallest: Counterexample


def family(adapter: type[Broken]) -> str:
    """Return the family of a broken adapter: the name of its module."""
    return adapter.__module__.rpartition(".")[2]


def find(
    adapter: type[Broken], effort: Effort, runner: Runner, *, all_apis: bool = False, shrinks: bool = True
) -> Found | None:
    """Search the properties of a broken adapter until an example fails. Return None if all examples pass.

    If the search `shrinks`, the example is the shortest that Hypothesis finds. Otherwise it is the first that fails.
    """
    for each in _searched(adapter(), all_apis):
        found = _find(each, effort, runner, shrinks)
        if found is not None:
            return found
    return None


def _searched(adapter: Broken, all_apis: bool) -> Iterator[Property]:
    described = declarations.describe(type(adapter).__name__, adapter)
    seen: dict[str, str] = {}
    for each in properties([described], plan.Filters(), has_server=True):
        first = seen.setdefault(each.api.wire, str(each.api)) if adapter.touches(str(each.api)) else ""
        if first == str(each.api) or (first and all_apis):
            yield each


def _find(searched: Property, effort: Effort, runner: Runner, shrinks: bool) -> Found | None:
    judge = ExampleJudge(runner, [rule for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)])
    judged = found_at = 0

    def cell(scenario: Scenario) -> Cell:
        nonlocal judged, found_at
        if judge.new and not found_at:
            found_at = judged
        if found_at and not shrinks and judged >= len(listed):
            raise EnoughDrawn
        judged += 1
        return Cell(searched.adapter, scenario, searched.mode, searched.method)

    theme, api, mode = searched.theme, searched.api, searched.mode
    listed = list(theme.all_listed(api, mode))
    drawn = searched.share(effort)
    scenarios = theme.scenarios(api, mode)
    find_failures(judge, str(searched), scenarios, cell, drawn, listed=lambda: listed, shrinks=shrinks)
    found_at = found_at or judged
    failing = {rule.id: result.counterexample for rule, result in judge.results.items() if result.counterexample}
    if not failing:
        return None
    efforts = (name for name in EFFORTS if found_at <= _number(name, searched))
    smallest = min(failing.values(), key=lambda each: each.size)
    return Found(next(efforts, ""), found_at, searched, tuple(failing), smallest)


def _number(effort: str, searched: Property) -> int:
    return searched.share(Effort.named(effort)).examples


def row(adapter: type[Broken], found: Found | None) -> str:
    """Return the row of a table for an adapter."""
    if found is None:
        return f"| `{adapter.__name__}` | - | | | | |"
    scenario = found.smallest.cell.scenario
    theme = f"{scenario.id}, {found.smallest.cell.method}"
    cells = (found.effort or "more", ", ".join(found.rules), str(found.examples), theme, _shown(found.smallest))
    return f"| `{adapter.__name__}` | {' | '.join(cells)} |"


def _shown(found: Counterexample) -> str:
    """Return the text of an answer, or its body if it has no text, as code in a table. Long texts lose their middle."""
    scenario = found.cell.scenario
    interaction = scenario.interactions[found.cell.mode]
    facts = answers.derive_if_readable(interaction, scenario.api)
    text = (facts.text if facts else "") or interaction.body.decode("utf-8", "backslashreplace")
    text = text.replace("\r", "\\r").replace("\n", "\\n").replace("|", "\\|").replace("`", "'")
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH // 2]} … {text[-_WIDTH // 2 :]}"
    cuts = f", {len(scenario.cuts)} cuts" if scenario.cuts else ""
    return f"`{text}` ({len(interaction.body)} bytes{cuts})"


def _chosen(families: Iterable[str], names: Iterable[str]) -> list[type[Broken]]:
    families, names = set(families), set(names)
    everything = not families and not names
    return [each for each in ADAPTERS if everything or family(each) in families or each.__name__ in names]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the rows of the table as they become known. Write the table if a file is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    families = sorted({family(each) for each in ADAPTERS})
    parser.add_argument("--examples", default="ci", metavar="E", help="quick, ci, deep or a number")
    parser.add_argument("--family", action="append", default=[], choices=families, metavar="F", help=str(families))
    parser.add_argument("--adapter", action="append", default=[], choices=[each.__name__ for each in ADAPTERS])
    parser.add_argument("--all-apis", action="store_true", help="search all APIs of a wire format, not only the first")
    parser.add_argument("--as-found", action="store_true", help="show the first example instead of the shortest")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the table to a file")
    options = parser.parse_args(arguments)
    effort = replace(Effort.named(options.examples), reproducible=True)
    print(_HEAD)
    lines = [_HEAD]
    runner = Runner(10, ReplayServer())
    try:
        for adapter in _chosen(options.family, options.adapter):
            found = find(adapter, effort, runner, all_apis=options.all_apis, shrinks=not options.as_found)
            lines.append(row(adapter, found))
            print(lines[-1], flush=True)
    finally:
        runner.close()
    if options.write:
        options.write.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
