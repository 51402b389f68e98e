"""Read `explained.toml`: features that are often in recordings and in no scenario, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from llm_conformance import toml_files

EXPLAINED = Path(__file__).with_name("explained.toml")


@dataclass(frozen=True)
class Explanation:
    """Features that need no scenario.

    Attributes:
        wire: The wire format.
        at: Texts. A feature that contains one of them is explained.
        reason: Why no scenario has it.
    """

    wire: str
    at: tuple[str, ...]
    reason: str


@dataclass
class Explained:
    """Finds explanations, and remembers which of their texts have matched."""

    explanations: Sequence[Explanation] = ()
    _used: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> Explained:
        """Read the explanations of a file. Raises BadFileError if the file is not TOML."""
        document, _ = toml_files.read(path)
        return cls([Explanation(each["wire"], tuple(each["at"]), each["reason"]) for each in document["explained"]])

    def reason(self, wire: str, feature: str) -> str:
        """Return why no scenario has a feature; "" if no explanation matches. Remember the texts that match."""
        for each in self.explanations:
            fitting = [part for part in each.at if each.wire == wire and part in feature]
            if fitting:
                self._used |= {(each.wire, part) for part in fitting}
                return each.reason
        return ""

    def unused(self) -> Iterator[str]:
        """Yield each text that has matched nothing."""
        for each in self.explanations:
            yield from (f"{part} ({each.reason})" for part in each.at if (each.wire, part) not in self._used)
