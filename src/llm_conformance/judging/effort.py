"""How long to search with generated inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

QUICK, CI, DEEP = 25, 100, 5000


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes:
        examples: How many examples a property gets; 0 for no generated input at all.
        reproducible: Whether the same examples are drawn in every run, and nothing is remembered between runs.
        shared: Whether providers of one format share the effort: most of what is drawn is the same for all of them.
    """

    examples: int
    reproducible: bool = False
    shared: bool = False

    @classmethod
    def named(cls, name: str) -> Effort:
        """Return what the option says: `quick`, `ci`, `deep` or a number. Raises ValueError for anything else."""
        profiles = {
            "quick": cls(QUICK, shared=True),
            "ci": cls(CI, reproducible=True, shared=True),
            "deep": cls(DEEP),
        }
        if name in profiles:
            return profiles[name]
        if not name.isascii() or not name.isdigit():
            raise ValueError(f"a number, or one of {', '.join(profiles)}")
        return cls(int(name))

    def times(self, factor: float, among: int = 1) -> Effort:
        """Return the effort for a property that is worth more, or less, than the usual; at least one example.

        Of so many that it is shared `among`, each gets less, and all together more: the root of their number.
        """
        share = math.sqrt(among) if self.shared else 1
        return replace(self, examples=max(1, round(self.examples * factor / share)) if self.examples else 0)
