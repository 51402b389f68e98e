"""Time limits that do not run while the machine does not run this process.

A busy machine may stop a process for seconds. An adapter is not to blame for that: neither for a call that takes longer
than its limit, nor for a time-out that it reports because its own clock has gone on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

TOO_BUSY = "this machine is too busy to judge the call"
"""How the message of a call begins that was not judged for that reason."""
_SLICE_S = 0.05
"""How long is waited at once. A slice that takes longer has waited for the machine, and counts as one slice."""
_LEAST = 0.05
"""Which part of a slice counts at least, so that each wait ends: two busy threads may always wait for each other."""


class FairWait:
    """Waits for another thread or process, and leaves out the time in which the machine ran neither that nor this one.

    Args:
        thread: The system's identifier of a thread of this process (`native_id`), if it is known.
        process: The identifier of the process, if another one is waited for.

    Attributes:
        counted_s: How many seconds of all waits were counted.
        starved_s: How many seconds of them were left out.
    """

    def __init__(self, thread: int | None = None, process: int | None = None) -> None:
        self._times = Path(f"/proc/self/task/{thread}/schedstat" if process is None else f"/proc/{process}/schedstat")
        self.counted_s = 0.0
        self.starved_s = 0.0

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Return True as soon as the event is set, False after so many seconds in which the thread could have run."""
        return self.until(event.wait, seconds) or event.is_set()

    def until(self, poll: Callable[[float], bool], seconds: float) -> bool:
        """Return True as soon as `poll` does, False after so many seconds; `poll` waits for as long as it is told."""
        left_s, ready_s = seconds, None
        while left_s > 0:
            started = time.monotonic()
            is_set = poll(min(_SLICE_S, left_s))
            took_s = time.monotonic() - started
            if is_set and took_s <= _SLICE_S:
                self.counted_s += took_s
                return True
            before_s, ready_s = ready_s, _ready_s(self._times)  # most calls end in the first slice, and need no look
            delay_s = 0.0 if before_s is None else ready_s - before_s
            counted_s = min(took_s, max(min(took_s, _SLICE_S) - delay_s, _LEAST * _SLICE_S))
            self.starved_s += took_s - counted_s
            self.counted_s += counted_s
            if is_set:
                return True
            left_s -= counted_s
        return False


def _ready_s(times: Path) -> float:
    """Return for how long a thread was ready but not run, since its start; 0 if the system does not tell."""
    try:
        return int(times.read_text("ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
