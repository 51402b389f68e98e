"""Mutants of the reference adapters: a copy of the package with all of them, and what each changes."""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.file_mutation import MutatedFile, mutate_file_contents

_ORIGINAL = "orig"


@dataclass(frozen=True)
class Mutant:
    """One change to one function.

    Attributes:
        name: mutmut's name: `mutated.gemini.x__parts__mutmut_3`.
        module: The adapter's module, without its package: `gemini`.
        function: The function's name, with its class: `GenerateDecoder.feed`.
        removed: The changed lines of the function, stripped.
        added: The lines that replace them, stripped.
    """

    name: str
    module: str
    function: str
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def hit(self) -> str:
        """The name under which mutmut records calls of the function."""
        return self.name.rpartition("__mutmut_")[0]

    def is_in_sample(self, one_in: int) -> bool:
        """Return True if the mutant is in the sample of one in N, which is the same in every run."""
        return zlib.crc32(self.name.encode()) % one_in == 0

    def __str__(self) -> str:
        """Return the function and the changed lines."""
        changed = [f"- {line}" for line in self.removed] + [f"+ {line}" for line in self.added]
        return "\n    ".join([f"{self.module}.{self.function}", *changed])


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
