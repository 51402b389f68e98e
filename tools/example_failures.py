"""Generate the examples of `llm-conformance explain`: for each rule, how the suite prints a broken adapter's failure.

python -m tools.example_failures src/llm_conformance/example_failures.json
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from llm_conformance.adapter import declarations
from llm_conformance.judging import plan
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.locations import CASSETTES, ROOT
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules import catalogue
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import lint
from llm_conformance.scenarios.scenario import Scenario
from tests.broken import BROKEN
from tests.broken.base import Broken
from tools import pages

COMMAND = "python -m tools.example_failures src/llm_conformance/example_failures.json"
_RANDOM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LEFT_OUT = ("Requirement", "Scenario", "Status", "Fault", "Outage", "Body", "Reproduce", "Traceback")
"""How the lines begin that are left out.

`explain` shows them anyway, they depend on this machine, or they would make the wheel too large.
"""


def examples(scenarios: Sequence[Scenario], runner: Runner) -> Mapping[str, Mapping[str, str]]:
    """Map each rule id to a broken adapter: its `fault` in words, and its first `failure`."""
    return {rule.id: _example(rule.rule, scenarios, runner) for rule in catalogue.catalogue().values()}


def _example(rule: Rule, scenarios: Sequence[Scenario], runner: Runner) -> Mapping[str, str]:
    own = sorted((each for each in BROKEN if each.fails[0] == rule.id), key=lambda each: len(each.fails))
    for broken in own:
        adapter = declarations.describe("mypkg", broken())
        for message, failure in _failures(rule, plan.cells([adapter], scenarios, plan.Filters()), runner):
            if re.search(broken.says, message):
                return {"fault": _fault(broken), "failure": _shortened(failure)}
    raise LookupError(f"no broken adapter fails {rule.id} with its expected message")


def _failures(rule: Rule, cells: Iterable[Cell], runner: Runner) -> Iterator[tuple[str, str]]:
    judge = CellJudge(runner, Effort(5, reproducible=True))
    for cell in cells:
        for judged in judge.judge(cell, [rule]):
            if judged.failure is not None:
                yield judged.verdict.message or "", judged.failure


def _fault(broken: type[Broken]) -> str:
    """Return the first sentence of the docstring. It continues the words "an adapter that"."""
    if not broken.__doc__:
        raise LookupError(f"{broken.__name__} has no docstring: add a sentence that states its fault")
    sentence = inspect.cleandoc(broken.__doc__).partition("\n\n")[0].replace("\n", " ").rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def _shortened(failure: str) -> str:
    kept: list[str] = []
    is_left_out = False
    for line in _RANDOM.sub("...", failure).replace(f"{ROOT}/", "").splitlines():
        if not line.startswith(" "):  # the other lines continue the line before
            is_left_out = line.startswith(_LEFT_OUT)
        if line and not is_left_out:
            kept.append(line)
    return "\n".join(kept)


def main(arguments: Sequence[str]) -> int:
    """Write the file, or check it. Return 1 if the file that is there differs."""
    parser = argparse.ArgumentParser(description="Generate the examples of `llm-conformance explain`.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--check", action="store_true", help="only check that the file is up to date")
    options = parser.parse_args(arguments)
    runner = Runner(10, ReplayServer())
    try:
        found = examples(lint.load_all([CASSETTES]), runner)
    finally:
        runner.close()
    text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    problems = pages.write_or_check(options.path, text, options.check, COMMAND)
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
