"""What an adapter prints in a process of its own: a bounded part of it is passed on, and all of it is searched."""

from __future__ import annotations

import os
import select
import threading

_MOST_SHOWN = 1 << 20
"""The bytes that are passed on; what an adapter prints may have no end."""
_AT_ONCE = 65536
_CUT = b"\n(llm-conformance: what the adapter prints from here on is not shown)\n"


class Output:
    """Takes the place of standard output and standard error, of child processes too.

    Args:
        secret: What is searched for.
        shown: The descriptor to which the output is passed on.
    """

    def __init__(self, secret: str, shown: int) -> None:
        self._secret = secret.encode()
        self._shown = shown
        self._left = _MOST_SHOWN
        self._end = b""
        self._found = False
        self._lock = threading.Lock()
        self._pipe, into = os.pipe()
        os.set_blocking(self._pipe, False)
        for standard in (1, 2):
            os.dup2(into, standard)
        os.close(into)
        threading.Thread(target=self._pass_on, name="adapter-output", daemon=True).start()

    def had_secret(self) -> bool:
        """Return whether the secret was printed since this was last asked."""
        with self._lock:
            while self._read():
                pass
            found, self._found = self._found, False
        return found

    def _pass_on(self) -> None:
        while True:
            select.select([self._pipe], [], [])
            with self._lock:  # so that nothing is read and not yet searched while `had_secret` looks
                self._read()

    def _read(self) -> bool:
        """Pass on and search what is there; return False if there is nothing."""
        try:
            data = os.read(self._pipe, _AT_ONCE)
        except BlockingIOError:
            return False
        searched = self._end + data
        self._found = self._found or self._secret in searched
        self._end = searched[-len(self._secret) :]
        if self._left > 0:
            os.write(self._shown, data[: self._left] + (_CUT if len(data) > self._left else b""))
            self._left -= len(data)
        return bool(data)
