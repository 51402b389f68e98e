"""Where a program runs: a process that ends with this process, and maybe a network of its own."""

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
"""The file to run. It is not imported, because it needs modules that Windows does not have."""
_ENTERED_WITHIN_S = 20.0
_LONGEST_DUMP = 65536
_DUMPED_WITHIN_S = 1.0
_DUMP_PAUSES_S = 0.1
IS_POSSIBLE = hasattr(os, "killpg")
"""Whether programs can be started on this system. Windows lacks the necessary descriptors, sessions and signals."""
_STANDARD_ERROR = 2
CONTROL = "LLM_CONFORMANCE_CONTROL"
"""The environment variable with the number of a descriptor.

On SIGUSR1, a program may write to this descriptor at which line it hangs.
"""


@dataclass(frozen=True, eq=False)
class Network:
    """A program's own network.

    Attributes:
        listening: A socket that listens on the loopback of that network.
        refusing: A socket that does not listen, so that connections to its port are refused.
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
        wants_network: Whether to give it a network of its own, if the system allows that.

    Attributes:
        process: Its process. It leads a session, so that its children end with it.
        network: Its own network; None if it has none.
        refused: Why it has no network of its own although it was to have one; "" in all other cases.
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
        """Return what the program writes about its main thread on SIGUSR1; "" if it does not answer."""
        dump = b""
        with contextlib.suppress(OSError):
            self.process.send_signal(signal.SIGUSR1)
            self._control.settimeout(_DUMPED_WITHIN_S)
            while len(dump) < _LONGEST_DUMP and (more := self._control.recv(_LONGEST_DUMP)):
                dump += more
                self._control.settimeout(_DUMP_PAUSES_S)  # the text comes in pieces and has no end marker
        return dump.decode("utf-8", "replace")

    def kill(self) -> None:
        """End the program and its children at once, and close their pipes and sockets."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.printed.end()
        self._control.close()
        os.close(self._life)
        if self.network is not None:
            self.network.close()

    def _enter(self) -> None:
        """Wait until the program has reported its network, or why it has none."""
        self._control.settimeout(_ENTERED_WITHIN_S)
        try:
            told, descriptors, _, _ = socket.recv_fds(self._control, 4096, 2)
        except OSError:  # it ended or does not answer; the first question to it will show this
            return
        text = told.decode("utf-8", "replace")
        if len(descriptors) == 2:
            self.network = Network(*(socket.socket(fileno=each) for each in descriptors))
        elif text.startswith("refused: "):
            self.refused = text.removeprefix("refused: ")
