"""Steps of a long run. Their results are kept in a directory, so that a run that was stopped can continue."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class StoppedError(Exception):
    """The user stopped the run before a step began."""


class Progress:
    """Prints what is done, with the time since the start."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._done = 0
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def say(self, name: str, what: str) -> None:
        """Print what has been done for a library or a bug."""
        with self._lock:
            print(f"[{time.monotonic() - self._began:4.0f} s] {name}: {what}", flush=True)

    def finish(self, name: str, told: str) -> None:
        """Print that a library or a bug is done."""
        self._done += 1
        self.say(name, f"{told} ({self._done} of {self._wanted})")


def digest(*parts: str | Path) -> str:
    """Return a digest of texts and of the names and contents of files."""
    made = hashlib.sha256()
    for part in parts:
        content = part.read_bytes() if isinstance(part, Path) else part.encode()
        made.update(f"{part if isinstance(part, str) else part.name} {len(content)}\n".encode() + content)
    return made.hexdigest()


def once(
    done: Path,
    made_of: str,
    action: Callable[[], str],
    keeps: Callable[[str], bool],
    say: Callable[[str], None],
    stop: threading.Event,
) -> str:
    """Do a step, and keep its result in `done` with the digest `made_of`. If an earlier run has kept it, return that.

    Raises StoppedError.
    """
    if done.is_file():
        before, _, result = done.read_text("utf-8").partition("\n")
        if before == made_of:
            say("as before")
            return result
    if stop.is_set():
        raise StoppedError
    done.unlink(missing_ok=True)
    began = time.monotonic()
    result = action()
    if keeps(result) and not stop.is_set():
        done.write_text(f"{made_of}\n{result}", "utf-8")
    say(f"{time.monotonic() - began:.0f} s")
    return result


def in_parallel(
    action: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int,
    stop: threading.Event,
    finished: Callable[[Result], None],
) -> list[Result]:
    """Do an action for `jobs` items at a time. Return the results in the order of the items."""
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        running = [pool.submit(action, item) for item in items]
        try:
            for each in as_completed(running):
                finished(each.result())
        except BaseException:  # an interrupt, which ends the commands that run, too
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [each.result() for each in running]
