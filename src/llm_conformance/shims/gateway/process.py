"""A gateway's process. It starts once, and does not outlive the program that asks it, however that program ends.

    python -m llm_conformance.shims.gateway.process COMMAND ...

is the process between the gateway and that program. It starts the command, and ends it when its standard input ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from llm_conformance.shims.gateway.settings import Settings

STARTED_WITHIN_S = 100.0
_POLL_S = 0.1


class NotStartedError(Exception):
    """The gateway did not start; the message has the end of its output."""


class Process:
    """A running gateway.

    Args:
        settings: The settings in its file.
        places: Values for `{name}` in its command, environment and files, besides `{port}` and `{files}`.

    Raises NotStartedError.
    """

    def __init__(self, settings: Settings, places: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="llm-conformance-gateway-")
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        places = {**places, "port": str(port), "files": self._folder.name}
        for name, text in settings.files.items():
            (Path(self._folder.name) / name).write_text(filled(text, places), "utf-8")
        self._log = Path(self._folder.name) / "gateway.log"
        environment = {name: filled(value, places) for name, value in settings.environment.items()}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - the command of the user's own file
                [sys.executable, "-m", __name__, *(filled(word, places) for word in settings.command)],
                cwd=settings.folder,
                env={**os.environ, "PATH": _path(), **environment},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )
        self._await(f"{self.url}{settings.ready}")

    @property
    def is_running(self) -> bool:
        """Whether the gateway is still running."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the gateway."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()

    def _await(self, url: str) -> None:
        until = time.monotonic() + STARTED_WITHIN_S
        with httpx.Client(trust_env=False) as client:
            while self.is_running and time.monotonic() < until:
                with contextlib.suppress(httpx.TransportError):
                    if client.get(url).status_code < 400:
                        return
                time.sleep(_POLL_S)
        said = self._log.read_text("utf-8", "replace")[-2000:]
        self.close()
        raise NotStartedError(f"the gateway did not answer GET {url} within {STARTED_WITHIN_S:g} s; it wrote: {said}")


def filled(text: str, places: Mapping[str, str]) -> str:
    """Return a text with each `{name}` in `places` replaced. Other braces stay."""
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _path() -> str:
    """Return the PATH with the programs of this Python's environment first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def main(command: Sequence[str]) -> int:
    """Run a command until the command or the standard input ends. Return the exit code of the command."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603

    def end() -> None:
        while os.read(0, 1024):  # `sys.stdin` would hold a lock when this process ends
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    threading.Thread(target=end, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
