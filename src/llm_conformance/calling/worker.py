"""Call an adapter's methods, sync or async, with a deadline, on a worker thread.

All calls run on one worker thread with one event loop, because adapters cache clients that belong to a thread or a
loop. If a call exceeds its deadline, the call and its thread are abandoned, and a new thread takes over. An adapter can
still block the interpreter (an endless regular expression) or end the process. Only a separate process prevents that.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import Any

from llm_conformance.calling.fair_time import FairWait
from llm_conformance.calling.result import MAX_EVENTS


class HungError(Exception):
    """A call did not return in time, and still runs on the thread with the identifier `thread`."""

    def __init__(self, seconds: float, thread: int) -> None:
        super().__init__(f"did not come back within {seconds:g} s")
        self.thread = thread


class Worker:
    """Runs calls one at a time on a worker thread.

    Attributes:
        starved_s: How many seconds of the last call passed while the machine did not run this process.
    """

    def __init__(self) -> None:
        self._worker: _Thread | None = None
        self.starved_s = 0.0

    def run(self, action: Callable[[asyncio.AbstractEventLoop], None], deadline_s: float) -> BaseException | None:
        """Run `action(loop)` on the worker thread. Return the exception that it raised; None if it raised nothing.

        Raises HungError if the action does not return within `deadline_s` seconds. Time while the machine does not run
        this process does not count. A KeyboardInterrupt that arrives in the meantime is raised.
        """
        if self._worker is None:
            self._worker = _Thread()
        job = _Job(action)
        waiting = FairWait(self._worker.thread.native_id)
        self._worker.jobs.put(job)
        is_done = waiting.wait(job.done, deadline_s)
        self.starved_s = waiting.starved_s
        if not is_done:
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
                job.action(loop)
            except BaseException as error:  # a SystemExit is the adapter's failure, not the end of the run
                job.error = error
            job.done.set()
        with contextlib.suppress(Exception):
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def awaited(value: Any, loop: asyncio.AbstractEventLoop) -> Any:
    """Return `value`; if it is awaitable, its result on `loop`."""
    return _run(_result(value), loop) if inspect.isawaitable(value) else value


def _run(coroutine: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Any:
    """Return the result of a coroutine. If another task stops the loop first, the coroutine is cancelled."""
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    finally:
        if not task.done():
            task.cancel()
            with contextlib.suppress(BaseException):
                loop.run_until_complete(task)


async def _result(value: Any) -> Any:
    return await value


def consume(events: Any, loop: asyncio.AbstractEventLoop, take: Callable[[Any], None]) -> None:
    """Pass each event of a sync or async iterable to `take`, as it arrives.

    Raises TypeError if `events` is not an iterable of events, and OverflowError after `MAX_EVENTS` events.
    """
    events = awaited(events, loop)
    if hasattr(events, "__aiter__"):
        _run(_consume_async(events, take), loop)
    elif isinstance(events, Iterable) and not isinstance(events, str | bytes | dict):
        for number, event in enumerate(events):
            _check_number(number)
            take(event)
    else:
        raise TypeError(f"the stream is {type(events).__name__}, which is no iterable of events")


async def _consume_async(events: AsyncIterator[Any], take: Callable[[Any], None]) -> None:
    number = 0
    async for event in events:
        _check_number(number)
        take(event)
        number += 1


def _check_number(number: int) -> None:
    if number >= MAX_EVENTS:
        raise OverflowError(f"the stream gave more than {MAX_EVENTS} events")
