"""A virtual environment for one library, with the suite and the library's requirements."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PYTHON = "3.11"
"""The version of Python for which the environments are frozen, unless a library needs a newer one."""


class NotInstalledError(Exception):
    """A program or package that is needed is missing; the message names it."""


class NoPythonError(NotInstalledError):
    """There is no interpreter of the version that a library needs, and none can be fetched."""


def uv() -> str:
    """Return the path of uv. Raises NotInstalledError."""
    if importlib.util.find_spec("uv"):
        from uv import find_uv_bin

        return str(find_uv_bin())
    found = shutil.which("uv")
    if found is None:
        raise NotInstalledError("there is no uv; install it with `pip install uv`")
    return found


@dataclass(frozen=True)
class Environment:
    """A virtual environment in `folder`; its commands write their output to `log`."""

    folder: Path
    log: Path

    def run(self, *command: str | Path, timeout: float | None = None) -> int:
        """Run a command of the environment or else of the system; return its exit code.

        Raises NotInstalledError if there is no such command, and subprocess.TimeoutExpired after `timeout` seconds.
        """
        own = self.folder / "bin" / str(command[0])
        name = str(own) if own.exists() else str(command[0])
        with self.log.open("a", encoding="utf-8") as file:
            try:
                done = subprocess.run(  # noqa: S603
                    [name, *map(str, command[1:])], cwd=ROOT, stdout=file, stderr=file, check=False, timeout=timeout
                )
            except FileNotFoundError as error:
                raise NotInstalledError(f"there is no {error.filename}") from error
        return done.returncode

    def install(self, *requirements: str | Path, with_suite: bool = True) -> None:
        """Create the environment with pip, and install the suite and the requirements. Raises NotInstalledError."""
        self._begin()
        if self.run(sys.executable, "-m", "venv", self.folder):
            raise NotInstalledError(f"{sys.executable} -m venv failed")
        if self.run("pip", "install", "-q", *([ROOT] if with_suite else []), *requirements):
            raise NotInstalledError("pip failed")

    def install_frozen(self, requirements: Path, python: str | None = None) -> None:
        """Create the environment with uv, and install what a file lists, nothing else, and the suite.

        `python` is the version of the interpreter, which uv fetches if it is not here. Raises NotInstalledError, and
        NoPythonError if there is no such interpreter.
        """
        self._begin()
        version = python or PYTHON
        if self.run(uv(), "venv", "--quiet", "--clear", f"--python={version}", self.folder):
            raise NoPythonError(f"needs Python {version}")
        into = ("--quiet", f"--python={self.folder / 'bin' / 'python'}")
        if self.run(uv(), "pip", "sync", *into, requirements):
            raise NotInstalledError("uv pip sync failed")
        # The requirements of the suite are frozen, too. It is installed as a link to this clone.
        if self.run(uv(), "pip", "install", *into, "--no-deps", "--editable", ROOT):
            raise NotInstalledError("the suite cannot be installed")

    def _begin(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("", encoding="utf-8")


def arguments(adapter: str, *options: str) -> Sequence[str]:
    """Return the command that judges an adapter without generated inputs."""
    return ["llm-conformance", "run", f"--adapter={adapter}", "--examples=0", "-q", *options]
