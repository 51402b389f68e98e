"""The number of generated examples for each property."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from llm_conformance.wording import did_you_mean

QUICK, CI, DEEP = 25, 100, 5000
NAMES = ("quick", "ci", "deep")

SENDING = 0.1
"""A method that sends requests gets this share of the examples if a parser gets the same bytes."""

MOST_SHARING = 5
"""All APIs of one wire format together get at most as many examples as this number of APIs would, because the same code
usually reads all of them. But each API gets at least one example.
"""


@dataclass(frozen=True)
class Effort:
    """The number of generated examples, and how they are drawn.

    Attributes:
        examples: The number of examples for each property; 0 for no generated scenarios.
        reproducible: Whether every run draws the same examples and remembers none for the next run.
        shared: Whether the APIs of one wire format share the number of examples. Most examples are the same for all of
            these APIs.
        first: How many of these examples a smaller effort draws, too. They are drawn first. 0 if no effort is smaller.
    """

    examples: int
    reproducible: bool = False
    shared: bool = False
    first: int = 0

    @classmethod
    def named(cls, name: str) -> Effort:
        """Return the effort for `quick`, `ci`, `deep` or a number. Raises ValueError with the possible values.

        `ci` draws all that `quick` draws, so that it finds all that `quick` finds.
        """
        if name == "quick":
            return cls(QUICK, reproducible=True, shared=True)
        if name == "ci":
            return cls(CI, reproducible=True, shared=True, first=min(QUICK, CI))
        if name == "deep":
            return cls(DEEP)
        if not name.isascii() or not name.isdigit():
            raise ValueError(f"a whole number from 0, or one of {', '.join(NAMES)}{did_you_mean(name, NAMES)}")
        return cls(int(name))

    @property
    def name(self) -> str:
        """The name by which `named` returns this effort."""
        return next((name for name in NAMES if Effort.named(name) == self), str(self.examples))

    def times(self, factor: float, among: int = 1) -> Effort:
        """Return the effort for a search that gets `factor` times the usual number of examples, and at least one.

        If N APIs (`among`) share the effort, all together get sqrt(N) times as much as one, but not more than
        `MOST_SHARING` APIs get together, unless one example for each is more.
        """
        share = factor * math.sqrt(min(among, MOST_SHARING)) / among if self.shared else factor
        return replace(self, examples=_part(self.examples, share), first=_part(self.first, share))

    @property
    def parts(self) -> tuple[int, ...]:
        """The sizes of the parts in which the examples are drawn. What a part draws does not depend on the others."""
        return tuple(filter(None, (self.first, self.examples - self.first)))

    def covers(self, other: Effort) -> bool:
        """Return True if every run with this effort finds what a run with `other` has found."""
        return self.reproducible and other.reproducible and self.examples >= other.examples > 0


NO_EFFORT = Effort(0)


def _part(examples: int, share: float) -> int:
    return max(1, round(examples * share)) if examples else 0
