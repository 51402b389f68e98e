"""The directories of cassettes that options name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from llm_conformance.locations import CASSETTES
from llm_conformance.options import as_typed
from llm_conformance.scenarios import load


def named(option: str, names: Iterable[str], base: Path) -> list[Path]:
    """Return the directories that an option names."""
    found = [base / name for name in names]
    problems = [f"{as_typed(option)}={path}: {problem}" for path in found if (problem := _unusable(path))]
    if problems:
        raise pytest.UsageError("\n".join(problems))
    return found


def without_nested(found: Iterable[Path]) -> list[Path]:
    """Return the directories that are not inside another directory, so that no file is judged twice."""
    kept: list[Path] = []
    for path in sorted(path.resolve() for path in found):  # a directory sorts before what it contains
        if not any(path.is_relative_to(other) for other in (CASSETTES.resolve(), *kept)):
            kept.append(path)
    return kept


def _unusable(path: Path) -> str | None:
    """Return why a path cannot be a cassette directory, or None if it can."""
    if path.is_file():
        return "is a file; name its directory"
    if not path.is_dir():
        return "no such directory"
    is_there = any(load.cassettes_below(path))
    return None if is_there else "contains no cassette (*.yaml, *.yml, *.json, *.har, each also with .gz)"
