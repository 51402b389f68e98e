"""Samples, scores and explanations of mutants, without mutmut: they are of code that exists."""

from __future__ import annotations

import ast
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.shell import ROOT
from tools.mutation.mutant import Mutant, sample
from tools.site import proof

SURVIVORS: list[Mapping[str, str]] = tomllib.loads((ROOT / "tools/mutation/survivors.toml").read_text("utf-8"))[
    "survivor"
]


def functions() -> Iterator[tuple[str, str]]:
    """Yield name and source of each function and method of the reference adapters, without indentation."""
    for path in (ROOT / "adapters").glob("*.py"):
        source = path.read_text("utf-8")
        for node in ast.parse(source).body:
            prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
            for function in node.body if isinstance(node, ast.ClassDef) else [node]:
                if isinstance(function, ast.FunctionDef):
                    lines = (ast.get_source_segment(source, function) or "").splitlines()
                    yield f"{path.stem}.{prefix}{function.name}", "\n".join(line.strip() for line in lines)


SOURCES = dict(functions())


@pytest.mark.parametrize("survivor", SURVIVORS, ids=lambda survivor: survivor["function"])
def test_an_explanation_is_of_a_function_and_lines_that_exist(survivor: Mapping[str, str]) -> None:
    named = [source for name, source in SOURCES.items() if fnmatchcase(name, survivor["function"])]
    assert named, f"no function {survivor['function']} in adapters/"
    assert any(survivor.get("removed", "") in source for source in named)


@pytest.mark.parametrize("survivor", SURVIVORS, ids=lambda survivor: survivor["function"])
def test_an_explanation_names_its_kind(survivor: Mapping[str, str]) -> None:
    assert survivor["why"].startswith(("equivalent", "unspecified", "unreachable"))


MUTANTS = [
    Mutant(f"mutated.{module}.x_f__mutmut_{number}", module, "f", (), ())
    for module, made in {"azure": 2, "gemini": 100}.items()
    for number in range(made)
]


def test_a_sample_is_of_every_module_and_the_same_in_every_run() -> None:
    drawn = sample(MUTANTS, 12, seed=1)
    assert Counter(mutant.module for mutant in drawn) == {"azure": 1, "gemini": 9}
    assert drawn == sample(MUTANTS, 12, seed=1)
    assert drawn != sample(MUTANTS, 12, seed=2)


def test_a_sample_of_one_in_one_is_all_of_them() -> None:
    assert set(sample(MUTANTS, 1, seed=1)) == set(MUTANTS)


def scores(made: int) -> Mapping[str, Any]:
    counts = {"made": made, "killed": 19, "survived": 1, "explained": 4}
    return {"when": "2026-11-22", "command": "COMMAND", "modules": {"gemini": counts, "all": counts}}


@pytest.mark.parametrize(
    ("made", "text"), [(300, "judged a sample of 24 of 300 mutants."), (24, "judged all 24 mutants.")]
)
def test_the_proof_says_how_many_mutants_were_judged(made: int, text: str) -> None:
    page = proof.page(scores(made)).splitlines()
    assert text in page
    assert "`COMMAND`" in page
    assert any("On 2026-11-22," in line for line in page)
    assert f"| gemini | {made} | 24 | 19 | 4 | 1 | 95.0% |" in page


def test_the_scores_are_of_modules_that_exist_and_add_up() -> None:
    modules = json.loads(proof.SCORES.read_text("utf-8"))["modules"]
    every = modules.pop("all")
    assert [name for name in modules if not (ROOT / f"adapters/{name}.py").is_file()] == []
    assert every == {key: sum(counts[key] for counts in modules.values()) for key in every}
