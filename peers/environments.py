"""A virtual environment for one library, with the suite and the library's requirements."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class NotInstalledError(Exception):
    """A program or package that is needed is missing; the message names it."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment in `folder`; its commands write their output to `log`."""

    folder: Path
    log: Path

    def run(self, *command: str | Path) -> int:
        """Run a command of the environment or else of the system; return its exit code. Raises NotInstalledError."""
        own = self.folder / "bin" / str(command[0])
        name = str(own) if own.exists() else str(command[0])
        with self.log.open("a", encoding="utf-8") as file:
            try:
                done = subprocess.run(  # noqa: S603
                    [name, *map(str, command[1:])], cwd=ROOT, stdout=file, stderr=file, check=False
                )
            except FileNotFoundError as error:
                raise NotInstalledError(f"there is no {error.filename}") from error
        return done.returncode

    def install(self, *requirements: str | Path, python: str | None = None, with_suite: bool = True) -> None:
        """Create the environment and install the suite and the requirements. Raises NotInstalledError.

        `python` is the version to use, such as `3.13`; the default is the running interpreter.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("", encoding="utf-8")
        interpreter = shutil.which(f"python{python}") if python else sys.executable
        if interpreter is None:
            raise NotInstalledError(f"there is no python{python}")
        if self.run(interpreter, "-m", "venv", self.folder):
            raise NotInstalledError(f"{interpreter} -m venv failed")
        if self.run("pip", "install", "-q", *([ROOT] if with_suite else []), *requirements):
            raise NotInstalledError("pip failed")


def arguments(adapter: str, *options: str) -> Sequence[str]:
    """Return the command that judges an adapter without generated inputs."""
    return ["llm-conformance", "run", f"--adapter={adapter}", "--examples=0", "-q", *options]
