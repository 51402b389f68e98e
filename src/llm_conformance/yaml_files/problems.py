"""What is wrong with a file, as people read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from llm_conformance import limits
from llm_conformance.wording import printable, shortened


@dataclass(frozen=True)
class FileProblem:
    """One thing that is wrong with a file; `line` is counted from 1, `message` says what to do about it."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        r"""Return `path:line: message` in one line.

        Characters that a terminal or a CI service would obey, such as ESC and line breaks, are escaped: `\x1b`.
        """
        return f"{printable(str(self.path))}:{self.line}: {printable(shortened(self.message, limits.MESSAGE))}"


class BadFileError(Exception):
    """A file that cannot be used, with everything that is wrong with it."""

    def __init__(self, *problems: FileProblem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class RefusedError(BadFileError):
    """A YAML file with anchors, which this suite does not read."""
