"""A copy of the reference adapters with all mutants, and what each mutant changes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from mutmut.mutation.file_mutation import MutatedFile, mutate_file_contents

from tools.mutation.mutant import Mutant

_ORIGINAL = "orig"


def write(adapters: Path, target: Path) -> list[Mutant]:
    """Write a copy of the package `adapters` with all mutants to `target`; return the mutants."""
    target.mkdir(parents=True)
    found: list[Mutant] = []
    for path in sorted(adapters.glob("*.py")):
        mutated = mutate_file_contents(str(path), path.read_text("utf-8"))
        (target / path.name).write_text(mutated.code, "utf-8")
        package = target.name if path.stem == "__init__" else f"{target.name}.{path.stem}"
        found += _mutants(mutated, path.stem, package)
    return found


def _mutants(mutated: MutatedFile, module: str, package: str) -> Iterator[Mutant]:
    lines = mutated.code.splitlines()
    spans = mutated.line_span_by_function_name
    for name in mutated.mutant_names:
        mangled, _, _ = name.rpartition("__mutmut_")
        before, after = (
            [line.strip() for line in lines[span.start - 1 : span.end]]
            for span in (spans[f"{mangled}__mutmut_{_ORIGINAL}"], spans[name])
        )
        changes = [each for each in difflib.ndiff(before, after) if "__mutmut_" not in each]
        yield Mutant(
            name=f"{package}.{name}",
            module=module,
            function=mangled.removeprefix("x_").removeprefix("xǁ").replace("ǁ", "."),
            removed=tuple(each[2:] for each in changes if each.startswith("- ")),
            added=tuple(each[2:] for each in changes if each.startswith("+ ")),
        )
