"""The place where a program runs: its process, which ends with this one, and its network, if it has one of its own."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.calling.output import PassedOn

_ENTER = str(Path(__file__).with_name("enter.py"))
"""Not imported: it needs modules that Windows does not have."""
_ENTERED_WITHIN_S = 20.0
_LONGEST_DUMP = 65536
_DUMPED_WITHIN_S = 1.0
_DUMP_PAUSES_S = 0.1
IS_POSSIBLE = hasattr(os, "killpg")
"""Whether programs can be started here: that takes descriptors, sessions and signals, which Windows does not have."""
_STANDARD_ERROR = 2
CONTROL = "LLM_CONFORMANCE_CONTROL"
"""The variable that tells a program the descriptor where it may write where it hangs, when it gets SIGUSR1."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network of a program's own.

    Attributes:
        listening: A socket in it that listens on its loopback.
        refusing: A socket in it that does not: connections to its port are refused.
    """

    listening: socket.socket
    refusing: socket.socket

    @property
    def ports(self) -> tuple[int, int]:
        """The ports of the two sockets."""
        return self.listening.getsockname()[1], self.refusing.getsockname()[1]

    @property
    def is_closed(self) -> bool:
        """Whether the program has ended."""
        return self.listening.fileno() < 0

    def close(self) -> None:
        """Close both sockets."""
        self.listening.close()
        self.refusing.close()


class Place:
    """A started program.

    Args:
        command: The program and its arguments.
        directory: Its working directory.
        wants_network: Whether it is to have a network of its own.

    Attributes:
        process: Its process, which leads a session of its own, so that its children end with it.
        network: Its own network; None if it has none.
        refused: Why it has none although it should; "" if it has one or should have none.
        printed: What it writes to its standard error.

    Raises OSError if it cannot be started.
    """

    def __init__(self, command: Sequence[str], directory: Path, wants_network: bool) -> None:
        if not shutil.which(command[0]) and not (directory / command[0]).is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
        ours, theirs = socket.socketpair()
        ends, self._life = os.pipe()
        printed, into = os.pipe()
        self._control = ours
        network = "own-network" if wants_network else "shared-network"
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - the user's own command
                [sys.executable, "-IS", _ENTER, str(theirs.fileno()), str(ends), network, *command],
                cwd=directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=into,
                bufsize=0,
                start_new_session=True,
                pass_fds=[theirs.fileno(), ends],
                env={**os.environ, CONTROL: str(theirs.fileno())},
            )
        os.close(ends)
        os.close(into)
        self.printed = PassedOn(printed, _STANDARD_ERROR, is_bounded=True)
        self.network: Network | None = None
        self.refused = ""
        self._enter()

    def where_it_hangs(self) -> str:
        """Return what the program writes of its main thread when asked; "" if it does not answer."""
        dump = b""
        with contextlib.suppress(OSError):
            self.process.send_signal(signal.SIGUSR1)
            self._control.settimeout(_DUMPED_WITHIN_S)
            while len(dump) < _LONGEST_DUMP and (more := self._control.recv(_LONGEST_DUMP)):
                dump += more
                self._control.settimeout(_DUMP_PAUSES_S)  # it is written in pieces, without an end
        return dump.decode("utf-8", "replace")

    def kill(self) -> None:
        """End the program and its children at once, and close what belongs to it."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.printed.end()
        self._control.close()
        os.close(self._life)
        if self.network is not None:
            self.network.close()

    def _enter(self) -> None:
        """Wait until the program has its place."""
        self._control.settimeout(_ENTERED_WITHIN_S)
        try:
            told, descriptors, _, _ = socket.recv_fds(self._control, 4096, 2)
        except OSError:  # it ended, or does not answer; the first line that is asked of it shows that
            return
        text = told.decode("utf-8", "replace")
        if len(descriptors) == 2:
            self.network = Network(*(socket.socket(fileno=each) for each in descriptors))
        elif text.startswith("refused: "):
            self.refused = text.removeprefix("refused: ")
