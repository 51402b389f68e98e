"""Read `explained.toml`: what is often in recordings and in no scenario, and why no scenario has it."""

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
        at: Parts of features; one that has any of them is explained.
        reason: Why no scenario has it.
    """

    wire: str
    at: tuple[str, ...]
    reason: str


@dataclass
class Explained:
    """The explanations, and which of their parts have fitted."""

    explanations: Sequence[Explanation] = ()
    _used: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> Explained:
        """Return the explanations of a file. Raises BadFileError if it is no TOML."""
        document, _ = toml_files.read(path)
        return cls([Explanation(each["wire"], tuple(each["at"]), each["reason"]) for each in document["explained"]])

    def reason(self, wire: str, feature: str) -> str:
        """Return why no scenario has a feature, "" if that is not explained, and note which part has fitted."""
        for each in self.explanations:
            fitting = [part for part in each.at if each.wire == wire and part in feature]
            if fitting:
                self._used |= {(each.wire, part) for part in fitting}
                return each.reason
        return ""

    def unused(self) -> Iterator[str]:
        """Yield each part that has fitted nothing."""
        for each in self.explanations:
            yield from (f"{part} ({each.reason})" for part in each.at if (each.wire, part) not in self._used)
