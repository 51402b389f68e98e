"""The searches of `quick` and `ci` draw the same in every run, whatever else is loaded, known or failing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.judging import search
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import ExampleJudge, Failure
from llm_conformance.replay.cell import Cell
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.table import table
from tests.shell import ROOT

SCRIPT = """\
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
from tests.test_same_draw import drawn, SEARCHES
from llm_conformance.judging.effort import Effort
order = sorted(SEARCHES, reverse=bool(sys.argv[1:]))
found = {name: drawn(name, Effort(40, reproducible=True)) for name in order}
print(__import__("json").dumps(found, sort_keys=True))
"""
MINE = "CONSTANTS = [" + ", ".join(f"{number}, 'word {number}', {number}.5" for number in range(101, 900, 17)) + "]\n"
SEARCHES: dict[str, tuple[str, Mode]] = {
    "openai/generated-chat-answers": ("answers", "stream"),
    "anthropic/generated-messages-citations": ("citations", "json"),
    "zai/generated-chat-usage": ("usage", "json"),
}


class Recorder(ExampleJudge):
    """Judges nothing, and keeps what it is given."""

    def __init__(self) -> None:
        self.hung = False
        self.new = {}
        self.examples: list[str] = []

    def judge(self, cell: Cell) -> list[Failure]:
        self.examples.append(repr((cell.scenario.interactions[cell.mode].body, cell.scenario.cuts)))
        return []


def drawn(id: str, effort: Effort) -> list[str]:
    """Return what a search draws, as texts."""
    theme, mode = SEARCHES[id]
    api, drawn_by = next((r, t) for r in table().values() for t in THEMES if t.name == theme and t.scenario_id(r) == id)
    adapter = declarations.describe("reference", ReferenceAdapters())
    method = declarations.METHODS[mode][1]
    judge = Recorder()
    search.find_failures(
        judge, id, drawn_by.scenarios(api, mode), lambda scenario: Cell(adapter, scenario, mode, method), effort
    )
    return judge.examples


def in_a_process(directory: Path, seed: str, *modules: str) -> dict[str, list[str]]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{directory}", "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *modules], env=environment, cwd=directory, capture_output=True, check=True
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_two_processes_with_other_modules_hashes_and_order_draw_the_same(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE, "utf-8")
    first = in_a_process(tmp_path, "1")
    assert all(len(set(examples)) > 15 for examples in first.values())
    assert in_a_process(tmp_path, "2", "mine") == first


def test_ci_draws_all_that_quick_draws() -> None:
    quick, ci = (drawn("zai/generated-chat-usage", Effort.named(name)) for name in ("quick", "ci"))
    assert ci[: len(quick)] == quick
    assert len(ci) > len(quick)


def test_a_number_draws_anew() -> None:
    first, second = (drawn("zai/generated-chat-usage", Effort(25)) for _ in range(2))
    assert first != second
