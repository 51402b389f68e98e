"""The number of generated examples for each property."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from llm_conformance.wording import did_you_mean

QUICK, CI, DEEP = 25, 100, 5000


@dataclass(frozen=True)
class Effort:
    """The number of generated examples, and how they are drawn.

    Attributes:
        examples: The number of examples for each property; 0 for no generated scenarios.
        reproducible: Whether every run draws the same examples and remembers none for the next run.
        shared: Whether the APIs of one wire format share the examples, as most of them would be the same.
    """

    examples: int
    reproducible: bool = False
    shared: bool = False

    @classmethod
    def named(cls, name: str) -> Effort:
        """Return the effort for `quick`, `ci`, `deep` or a number. Raises ValueError with the possible values."""
        profiles = {
            "quick": cls(QUICK, shared=True),
            "ci": cls(CI, reproducible=True, shared=True),
            "deep": cls(DEEP),
        }
        if name in profiles:
            return profiles[name]
        if not name.isascii() or not name.isdigit():
            raise ValueError(f"a number, or one of {', '.join(profiles)}{did_you_mean(name, profiles)}")
        return cls(int(name))

    def times(self, factor: float, among: int = 1) -> Effort:
        """Return the effort for a property that gets `factor` times the usual number, and at least one example.

        If N APIs share the effort (`among`), each gets 1/sqrt(N) of it, so that all together get sqrt(N) times as much.
        """
        share = math.sqrt(among) if self.shared else 1
        return replace(self, examples=max(1, round(self.examples * factor / share)) if self.examples else 0)
