"""Libraries of the field. The suite has an adapter (a shim) for each, and judges the installed release.

Each has a folder in `peers/`:

| file | content |
|---|---|
| `adapter.py`, `adapter.mjs` or `gateway.toml` | the shim |
| `requirements.in` or `package.json` | the judged releases; the first is the library's own, unless `library` names it |
| `requirements.txt`, `package-lock.json` | the environment; a Node library has both, `requirements.txt` for the suite |
| `deviations.toml` | the known findings |
| `reports/` | reports of findings, and programs that reproduce them |
"""

from __future__ import annotations

import atexit
import functools
import importlib.metadata
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from llm_conformance.locations import LIBRARIES
from llm_conformance.wording import command_line, did_you_mean, no_such

LIST_COMMAND = "llm-conformance list --libraries"

_PYTHON = re.compile(r"^# python (\S+)$", re.MULTILINE)
_API = re.compile(r"""["']([a-z][\w-]*:[a-z][\w-]*)["']""")


class NotHereError(Exception):
    """The library cannot be judged here; the message says what to install."""


@dataclass(frozen=True)
class Library:
    """A library and its folder."""

    folder: Path

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def is_node(self) -> bool:
        """Whether it is a Node package."""
        return (self.folder / "package.json").is_file()

    @property
    def shim(self) -> Path:
        """The file with the shim; for a gateway, the file that describes it."""
        gateway = self.folder / "gateway.toml"
        return gateway if gateway.is_file() else self.folder / ("adapter.mjs" if self.is_node else "adapter.py")

    @staticmethod
    def spec(shim: Path) -> str:
        """Return the SPEC of the adapter in a file that is a shim or a copy of one."""
        if shim.suffix == ".toml":
            return f"gateway:{shim}"
        return f"cmd:{command_line(['node', str(shim)])}" if shim.suffix == ".mjs" else str(shim)

    @property
    def deviations(self) -> Path:
        """The file with the known findings."""
        return self.folder / "deviations.toml"

    @property
    def reproductions(self) -> list[Path]:
        """The programs that reproduce findings."""
        return sorted((self.folder / "reports").glob("*.mjs" if self.is_node else "*.py"))

    @property
    def frozen(self) -> tuple[str, ...]:
        """The names of the files that pin the environment."""
        return ("requirements.txt", "package-lock.json") if self.is_node else ("requirements.txt",)

    @property
    def python(self) -> str | None:
        """The lowest Python that it needs, such as `3.12`; None if it runs on every Python that the suite supports."""
        found = None if self.is_node else _PYTHON.search((self.folder / "requirements.in").read_text("utf-8"))
        return found[1] if found else None

    @property
    def judged(self) -> Mapping[str, str]:
        """Maps the judged packages to their releases. The library's own package is the first."""
        if self.is_node:
            described = self._described
            found: dict[str, str] = described["dependencies"]
            own = described.get("library", next(iter(found)))
            return {own: found[own], **found}
        lines = (
            line.partition("#")[0].strip() for line in (self.folder / "requirements.in").read_text("utf-8").split("\n")
        )
        wanted = [Requirement(line) for line in lines if line]
        return {_with_extras(each): str(each.specifier).removeprefix("==") for each in wanted}

    @property
    def held_back(self) -> Mapping[str, str]:
        """Maps a package to its release if npm would choose another one. Only Node libraries have such packages."""
        found: dict[str, str] = self._described.get("overrides", {}) if self.is_node else {}
        return found

    @property
    def _described(self) -> Mapping[str, Any]:
        described: dict[str, Any] = json.loads((self.folder / "package.json").read_text("utf-8"))
        return described

    @property
    def package(self) -> str:
        """The name of the library's own package."""
        return next(iter(self.judged)).partition("[")[0]

    @property
    def release(self) -> str:
        """The release that the known findings are about."""
        return next(iter(self.judged.values()))

    @property
    def apis(self) -> list[str]:
        """The APIs that the shim names.

        This reads the shim as text, because its import fails if the library is not installed.
        """
        from llm_conformance.wire.providers.table import (
            table,  # slow, and each process of an adapter imports this module
        )

        rows = {str(api) for api in table().values()}
        return sorted(rows.intersection(_API.findall(self.shim.read_text("utf-8"))))

    def installed(self, directory: Path) -> str | None:
        """Return the installed release or None.

        For a Node library, it is the release that a program in `directory` finds.
        """
        return self._installed(self.package, directory)

    def _installed(self, package: str, directory: Path) -> str | None:
        if not self.is_node:
            try:
                return importlib.metadata.version(package.partition("[")[0])
            except importlib.metadata.PackageNotFoundError:
                return None
        modules = self._node_modules(package, directory)
        if modules is None:
            return None
        release: str = json.loads((modules / package / "package.json").read_text("utf-8"))["version"]
        return release

    def _node_modules(self, package: str, directory: Path) -> Path | None:
        """Return the `node_modules` with a package, from `directory`, a folder above it, or the library's folder."""
        places = (place / "node_modules" for place in (directory, *directory.parents, self.folder))
        return next((place for place in places if (place / package / "package.json").is_file()), None)

    def shim_beside(self, directory: Path) -> Path:
        """Return a copy of a Node shim. It finds the same packages as a program in `directory`.

        Node looks for packages beside the importing file, and the suite is installed elsewhere. The copy is deleted
        when the process ends.
        """
        modules = self._node_modules(self.package, directory)
        root = Path(tempfile.mkdtemp(prefix=f"{self.name}-"))
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        copy = root / self.name
        copy.mkdir()
        for file in self.folder.parent.glob("*.mjs"):  # what the shims share
            shutil.copy(file, root)
        for file in (*self.folder.glob("*.mjs"), *self.folder.glob("*.toml")):
            shutil.copy(file, copy)
        if modules is not None:
            (copy / "node_modules").symlink_to(modules.absolute(), target_is_directory=True)
        return copy / self.shim.name

    def check(self, directory: Path) -> None:
        """Raise NotHereError if the library cannot be judged by a run in `directory`."""
        if self.python and Version(self.python) > Version(f"{sys.version_info.major}.{sys.version_info.minor}"):
            version = ".".join(map(str, sys.version_info[:2]))
            raise NotHereError(f"the library {self.name} needs Python {self.python} or newer, and this is {version}")
        missing = [each for each in self.judged if self._installed(each, directory) is None]
        if missing:
            install = ("npm", "install") if self.is_node else ("pip", "install")
            place = f"in {directory} or above" if self.is_node else "in this environment"
            names = ", ".join(each.partition("[")[0] for each in missing)
            are = "is" if len(missing) == 1 else "are"
            raise NotHereError(
                f"the library {self.name} cannot be judged: {names} {are} not installed {place}; install with\n"
                f"  {command_line([*install, *missing])}"
            )


def _with_extras(requirement: Requirement) -> str:
    return f"{requirement.name}[{','.join(sorted(requirement.extras))}]" if requirement.extras else requirement.name


@functools.cache
def libraries() -> Mapping[str, Library]:
    """Return all libraries by name, in alphabetical order."""
    return {each.name: each for each in _in(LIBRARIES)}


def _in(folder: Path) -> Iterator[Library]:
    for path in sorted(folder.iterdir()):
        if (path / "deviations.toml").is_file():
            yield Library(path)


def unknown(name: str) -> str:
    """Return the message for a name that no library has."""
    return f"{name}: {no_such('library', did_you_mean(name, libraries()), LIST_COMMAND)}"
