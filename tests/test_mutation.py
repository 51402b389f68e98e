"""The explanations of surviving mutants, without mutmut: each is of code that exists."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

import pytest

from tests.shell import ROOT

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
