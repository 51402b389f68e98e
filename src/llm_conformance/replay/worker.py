"""Calling an adapter's methods: sync or async, with a deadline, off the main thread.

One worker thread, with one event loop of its own, runs every call, because adapters cache clients that belong to a
thread or a loop. A call that outlives its deadline is given up together with its thread, and a fresh one takes over.
What runs in this process can also keep the interpreter to itself (a regular expression without end) or end the
process; against that only a process of its own would help.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import queue
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

MAX_EVENTS = 200_000


class HungError(Exception):
    """The call did not come back in time; `thread` is what is left of it."""

    def __init__(self, seconds: float, thread: int) -> None:
        super().__init__(f"did not come back within {seconds:g} s")
        self.thread = thread


class Worker:
    """Runs calls one at a time on a worker thread."""

    def __init__(self) -> None:
        self._worker: _Thread | None = None

    def run(self, action: Callable[[asyncio.AbstractEventLoop], None], deadline_s: float) -> BaseException | None:
        """Run `action(loop)` and return what it raised, if anything. Raises HungError after `deadline_s` seconds.

        What the waiting itself raises, a Ctrl-C of the user, is nobody's fault and goes through.
        """
        if self._worker is None:
            self._worker = _Thread()
        job = _Job(action)
        self._worker.jobs.put(job)
        if not job.done.wait(deadline_s):
            hung, self._worker = self._worker, None
            raise HungError(deadline_s, hung.thread.ident or 0)
        return job.error

    def close(self) -> None:
        """Stop the worker and close its loop."""
        if self._worker is not None:
            self._worker.jobs.put(None)
            self._worker.thread.join(timeout=5)
            self._worker = None


class _Job:
    def __init__(self, action: Callable[[asyncio.AbstractEventLoop], None]) -> None:
        self.action = action
        self.done = threading.Event()
        self.error: BaseException | None = None


class _Thread:
    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._work, name="adapter", daemon=True)
        self.thread.start()

    def _work(self) -> None:
        loop = asyncio.new_event_loop()
        while (job := self.jobs.get()) is not None:
            try:
                with warnings.catch_warnings():
                    # Who runs the suite may turn warnings into errors; an adapter's are no failures for that.
                    warnings.simplefilter("default")
                    job.action(loop)
            except BaseException as error:  # a SystemExit of an adapter is its failure, not the end of the run
                job.error = error
            job.done.set()
        with contextlib.suppress(Exception):
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def returned(value: Any, loop: asyncio.AbstractEventLoop) -> Any:
    """Return `value`, awaited on `loop` if it is awaitable."""
    if inspect.isawaitable(value):
        return loop.run_until_complete(_awaited(value))
    return value


async def _awaited(value: Any) -> Any:
    return await value


def consume(events: Any, loop: asyncio.AbstractEventLoop, seen: Callable[[Any], None]) -> None:
    """Hand every event of a sync or async iterable to `seen`, as it comes.

    Raises TypeError when it is no iterable, OverflowError after `MAX_EVENTS` events.
    """
    events = returned(events, loop)
    if hasattr(events, "__aiter__"):
        loop.run_until_complete(_consume_async(events, seen))
    elif isinstance(events, Iterable) and not isinstance(events, str | bytes | dict):
        for number, event in enumerate(events):
            _bounded(number)
            seen(event)
    else:
        raise TypeError(f"the stream is {type(events).__name__}, which is no iterable of events")


async def _consume_async(events: AsyncIterator[Any], seen: Callable[[Any], None]) -> None:
    number = 0
    async for event in events:
        _bounded(number)
        seen(event)
        number += 1


def _bounded(number: int) -> None:
    if number >= MAX_EVENTS:
        raise OverflowError(f"the stream gave more than {MAX_EVENTS} events")
