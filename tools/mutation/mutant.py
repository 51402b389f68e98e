"""A mutant of the reference adapters, and samples of them; works without mutmut."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass


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

    def __str__(self) -> str:
        """Return the function and the changed lines."""
        changed = [f"- {line}" for line in self.removed] + [f"+ {line}" for line in self.added]
        return "\n    ".join([f"{self.module}.{self.function}", *changed])


def sample(mutants: Sequence[Mutant], one_in: int, seed: int) -> list[Mutant]:
    """Draw one in N of the mutants of each module, rounded up. The same seed draws the same mutants in every run."""
    by_module: dict[str, list[Mutant]] = {}
    for each in mutants:
        by_module.setdefault(each.module, []).append(each)
    drawn = random.Random(seed)  # noqa: S311 - a sample, not a secret
    return [each for those in by_module.values() for each in drawn.sample(those, math.ceil(len(those) / one_in))]
