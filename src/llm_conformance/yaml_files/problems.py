"""Problems of files, in a form for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from llm_conformance import limits
from llm_conformance.wording import printable, shortened


@dataclass(frozen=True)
class FileProblem:
    """One problem of a file. `line` counts from 1; `message` says what to do about the problem."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        r"""Return `path:line: message` in one line.

        Control characters for a terminal or a CI service, such as ESC and line breaks, are escaped: `\x1b`.
        """
        return f"{printable(str(self.path))}:{self.line}: {printable(shortened(self.message, limits.MESSAGE))}"


class BadFileError(Exception):
    """A file cannot be used; `problems` has everything that is wrong with it."""

    def __init__(self, *problems: FileProblem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class RefusedError(BadFileError):
    """A YAML file has anchors, which this suite does not read."""
