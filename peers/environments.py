"""An environment of its own for a library: made, and filled with the suite and what the library needs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class NotInstalledError(Exception):
    """Something that is needed cannot be had; the message says what."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment in `folder`; what its commands print goes to `log`."""

    folder: Path
    log: Path

    def run(self, *command: str | Path) -> int:
        """Run a command of the environment, or of the system; return its exit code. Raises NotInstalledError."""
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

    def install(self, *requirements: str | Path, python: str | None = None) -> None:
        """Make the environment, with another `python` if one is named, and install. Raises NotInstalledError."""
        self.log.write_text("", encoding="utf-8")
        interpreter = shutil.which(f"python{python}") if python else sys.executable
        if interpreter is None:
            raise NotInstalledError(f"there is no python{python}")
        if self.run(interpreter, "-m", "venv", self.folder):
            raise NotInstalledError(f"{interpreter} makes no environment")
        if self.run("pip", "install", "-q", ROOT, *requirements):
            raise NotInstalledError("pip says why")


def arguments(adapter: str, *options: str) -> Sequence[str]:
    """Return the command that judges an adapter with what is recorded."""
    return ["llm-conformance", "run", f"--adapter={adapter}", "--examples=0", "-q", *options]
