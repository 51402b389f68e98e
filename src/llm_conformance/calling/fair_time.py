"""Time limits that stand still while the machine does not run this process.

A busy machine may leave a process waiting for seconds. An adapter is not to blame if its call then takes too long, or
if it reports a time-out because its own clock went on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

TOO_BUSY = "this machine is too busy to judge the call"
"""The start of the message of a call that was not judged because the machine was too busy."""
_SLICE_S = 0.05
"""The length of a slice of waiting.

A slice that takes longer has waited for the machine, and still counts as one slice.
"""
_LEAST = 0.05
"""The part of a slice that always counts.

Without it, a wait might never end: two busy threads may wait for each other.
"""


class FairWait:
    """Waits for a thread or a process.

    Time does not count while the machine does not run that thread or process although it is ready. Nor does it count
    while the machine does not run the waiting thread.

    Args:
        thread: The system's identifier of a thread of this process (`native_id`), if it is known.
        process: The identifier of the process, if the wait is for another process.

    Attributes:
        counted_s: How many seconds of all waits have counted.
        starved_s: How many seconds of all waits have not counted.
    """

    def __init__(self, thread: int | None = None, process: int | None = None) -> None:
        self._times = Path(f"/proc/self/task/{thread}/schedstat" if process is None else f"/proc/{process}/schedstat")
        self._made = time.monotonic()
        self.counted_s = 0.0
        self.starved_s = 0.0

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Return True as soon as the event is set, and False when `seconds` of counted time are over.

        The wait begins when this object is made. Make the object before the work begins, because the machine may not
        run this thread again until the work has ended.
        """
        return self._until(event.wait, seconds, self._made) or event.is_set()

    def until(self, poll: Callable[[float], bool], seconds: float) -> bool:
        """Return True as soon as `poll(s)` returns True; False after `seconds` that count.

        `poll(s)` waits up to s seconds.
        """
        return self._until(poll, seconds, time.monotonic())

    def _until(self, poll: Callable[[float], bool], seconds: float, since: float) -> bool:
        left_s, ready_s = seconds, None
        while left_s > 0:
            is_set = poll(min(_SLICE_S, left_s))
            now = time.monotonic()
            took_s, since = now - since, now
            if is_set and took_s <= _SLICE_S:
                self.counted_s += took_s
                return True
            before_s, ready_s = ready_s, _ready_s(self._times)  # seldom read: most calls end in the first slice
            delay_s = 0.0 if before_s is None else ready_s - before_s
            counted_s = min(took_s, max(min(took_s, _SLICE_S) - delay_s, _LEAST * _SLICE_S))
            self.starved_s += took_s - counted_s
            self.counted_s += counted_s
            if is_set:
                return True
            left_s -= counted_s
        return False


def _ready_s(times: Path) -> float:
    """Return for how many seconds a thread has been ready but not run; 0 if the system does not tell."""
    try:
        return int(times.read_text("ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
