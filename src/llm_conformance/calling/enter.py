"""Start a program that ends with its parent, and that may have a network of its own.

    python -IS enter.py CONTROL PARENT own-network|shared-network COMMAND ...

CONTROL is the descriptor of a Unix socket. With a network of its own (Linux, a network namespace), the program and all
its children reach nothing but each other, whatever code they use. This file sends two sockets of that network through
CONTROL, so that the parent can answer requests in it. One socket listens and the other does not. If the system does not
allow such a network, this file sends the reason through CONTROL, and the program runs without a network of its own.

PARENT is the descriptor of a pipe that closes when the parent ends, for whatever reason. A small process beside the
program waits for this, and then kills the program and its children.

This file runs before any code of the program, so it imports only the standard library.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
from pathlib import Path

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_BACKLOG = 128
_MOST_DESCRIPTORS = 65536
_ENDED_FIRST = "1000"
"""The highest value of Linux's `oom_score_adj`. A system that runs out of memory ends such a process first."""


def main(arguments: list[str]) -> None:
    """Prepare the place, tell the parent, and become the program."""
    control, parent = socket.socket(fileno=int(arguments[0])), int(arguments[1])
    sockets: list[socket.socket] = []
    told = "shared"
    _end_with_parent(parent)
    os.close(parent)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # if memory runs out, the system ends this program, not the suite
            Path("/proc/self/oom_score_adj").write_text(_ENDED_FIRST, "ascii")
        if arguments[2] == "own-network":
            try:
                sockets = _own_network()
                told = "own"
            except OSError as error:
                told = f"refused: {error.strerror or error}"
    descriptors = array.array("i", [each.fileno() for each in sockets])
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors.tobytes())] if descriptors else []
    control.sendmsg([told.encode()], rights)
    os.set_inheritable(control.detach(), True)
    os.execvp(arguments[3], arguments[3:])  # noqa: S606 - the user's own command


def _own_network() -> list[socket.socket]:
    """Enter a new network namespace with a loopback. Raises OSError if the system does not allow it."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET):  # this needs a superuser: become one in a new user namespace
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")
        Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="utf-8")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="utf-8")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    listening, refusing = socket.socket(), socket.socket()
    for each in (listening, refusing):
        each.bind(("127.0.0.1", 0))
    listening.listen(_BACKLOG)
    return [listening, refusing]


def _end_with_parent(parent: int) -> None:
    """Start the process that ends the program and its children when the parent ends.

    It is not a child of the program.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork() == 0:
        os.dup2(parent, 0)
        os.closerange(1, _MOST_DESCRIPTORS)  # else this process would keep the program's output open
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        os.read(0, 1)  # nobody writes, so this returns when the parent ends
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
