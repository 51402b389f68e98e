"""The reports of faults that are ready to be filed. A check finds out if the code that they quote is there.

    python -m peers.reports NAME DIR

DIR is the folder in which the packages of the library NAME are installed: `site-packages` of its environment, or
`node_modules`. Each place that a report names is looked up there. Exits with 1 if a place has other code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.adapter.libraries import Library, libraries
from llm_conformance.wording import command_line, counted

_INSTALL = re.compile(r"^\*\*Install:\*\* `((?:npm init .* && )?(?:pip|npm) install \S.*)`$", re.MULTILINE)
_WHERE = re.compile(r"^\*\*Where:\*\*\n\n((?:\* .*\n)+)", re.MULTILINE)
_PLACE = re.compile(r"\* `(?P<path>[^`:]+):(?P<line>[1-9]\d*)`: `(?P<code>[^`]+)`")


@dataclass(frozen=True)
class Place:
    """A line of the library: `path` below the folder of the packages, `line` from 1, and `code` that the line has."""

    path: str
    line: int
    code: str

    def problem(self, packages: Path) -> str:
        """Return what is wrong with the place in an installed library; "" if the line has the code."""
        try:
            lines = (packages / self.path).read_text("utf-8").split("\n")
        except FileNotFoundError:
            return f"there is no file {self.path}"
        found = lines[self.line - 1].strip() if self.line <= len(lines) else ""
        return "" if self.code in found else f"{self.path}:{self.line} is `{found}`, without `{self.code}`"


def install_line(library: Library) -> str:
    """Return the command that installs the judged releases of a library. Its programs need nothing else.

    The command is shorter than `requirements.txt`, which has the whole environment of the judged library. It also pins
    the packages for which npm would choose another release, because that release may show other faults.
    """
    if library.is_node:
        held_back = [f"overrides.{name}={release}" for name, release in library.held_back.items()]
        first = f"npm init --yes && {command_line(['npm', 'pkg', 'set', *held_back])} && " if held_back else ""
        packages = (f"{name}@{release}" for name, release in library.judged.items())
        return first + command_line(["npm", "install", *packages])
    return command_line(["pip", "install", *(f"{name}=={release}" for name, release in library.judged.items())])


def texts(library: Library) -> Iterator[Path]:
    """Yield the reports of a library."""
    yield from sorted((library.folder / "reports").glob("*.md"))


def install_lines(text: str) -> list[str]:
    """Return the commands in a report that install what its program needs. A report should have one such command."""
    return _INSTALL.findall(text)


def places(text: str) -> list[Place]:
    """Return the places that a report names. Raises ValueError if a place cannot be read."""
    found = []
    for line in "".join(_WHERE.findall(text)).splitlines():
        place = _PLACE.match(line)
        if place is None:
            raise ValueError(f"{line}: write * `package/module.py:12`: `code of the line`")
        found.append(Place(place["path"], int(place["line"]), place["code"]))
    return found


def main(arguments: Sequence[str]) -> int:
    """Look up the places of all reports of a library, and print what is wrong. Return the exit code."""
    if len(arguments) != 2 or arguments[0] not in libraries():
        sys.exit("usage: python -m peers.reports NAME DIR")
    name, packages = arguments[0], Path(arguments[1])
    named = [(path, place) for path in texts(libraries()[name]) for place in places(path.read_text("utf-8"))]
    wrong = [(path, problem) for path, place in named if (problem := place.problem(packages))]
    for path, problem in wrong:
        print(f"{path.name}: {problem}")
    print(f"{name}: {counted(len(named), 'place')}, {len(wrong)} of them with other code")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
