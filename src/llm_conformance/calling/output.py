"""Read everything that programs and adapters print, so that they never wait. A bounded part of it is passed on."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable

_FIRST = 1 << 20
"""How many bytes at the start of a program's output are passed on. The output may be endless."""
_LAST = 1 << 16
"""How many bytes at the end of a program's output are passed on. They may say why it ended."""
_AT_ONCE = 65536


class PassedOn:
    """Reads a pipe on a thread of its own, and passes on what it reads.

    Args:
        pipe: The descriptor to read. It is closed at the end of the input.
        shown: The descriptor to which the output is passed on.
        is_bounded: Whether only the first and the last bytes are passed on.
        look: A function that is called with each piece that was read.

    Attributes:
        thread: The thread. It ends when nobody can write into the pipe any more.
    """

    def __init__(
        self, pipe: int, shown: int, *, is_bounded: bool, look: Callable[[bytes], None] = lambda _piece: None
    ) -> None:
        self._pipe = pipe
        self._shown = shown
        self._is_bounded = is_bounded
        self._look = look
        self._left = _FIRST
        self._last = b""
        self._not_shown = 0
        self._is_open = True
        self._has_ended = False
        self._lock = threading.Lock()
        os.set_blocking(pipe, False)
        self.thread = threading.Thread(target=self._pass_on, name="adapter-output", daemon=True)
        self.thread.start()

    def drain(self) -> None:
        """Read all that has been written so far."""
        with self._lock:
            while self._read():
                pass

    def end(self) -> None:
        """Read all that has been written so far, and pass on its end. Later output is not shown."""
        self.drain()
        with self._lock:
            if self._not_shown > len(self._last):
                left_out = self._not_shown - len(self._last)
                self._write(b"\n(llm-conformance: %d bytes of what was printed are not shown here)\n" % left_out)
            self._write(self._last)
            self._last, self._has_ended = b"", True

    def _pass_on(self) -> None:
        while self._is_open:
            select.select([self._pipe], [], [])
            with self._lock:  # so that `look` has seen everything that was read when `drain` returns
                self._read()
        os.close(self._pipe)  # on this thread, so that it never reads a closed descriptor

    def _read(self) -> bool:
        """Read what is there; return False if there is nothing."""
        if not self._is_open:
            return False
        try:
            piece = os.read(self._pipe, _AT_ONCE)
        except BlockingIOError:
            return False
        if not piece:
            self._is_open = False
            return False
        self._look(piece)
        self._take(piece)
        return True

    def _take(self, piece: bytes) -> None:
        if self._has_ended:
            return
        first = piece[: self._left] if self._is_bounded else piece
        self._write(first)
        if self._is_bounded:
            rest = piece[len(first) :]
            self._left -= len(first)
            self._not_shown += len(rest)
            self._last = (self._last + rest)[-_LAST:]

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        with contextlib.suppress(OSError):  # the reader is gone, or the disk is full
            while left:
                left = left[os.write(self._shown, left) :]


class Output:
    """Replaces standard output and standard error, also for child processes.

    Args:
        secret: The text to search for.
        shown: The descriptor to which the output is passed on.
    """

    def __init__(self, secret: str, shown: int) -> None:
        self._secret = secret.encode()
        self._end = b""
        self._found = False
        pipe, into = os.pipe()
        for standard in (1, 2):
            os.dup2(into, standard)
        os.close(into)
        self._passed_on = PassedOn(pipe, shown, is_bounded=False, look=self._search)

    def had_secret(self) -> bool:
        """Return True if the secret was printed since the last call of this method."""
        self._passed_on.drain()
        found, self._found = self._found, False
        return found

    def _search(self, piece: bytes) -> None:
        searched = self._end + piece
        self._found = self._found or self._secret in searched
        self._end = searched[-len(self._secret) :]
