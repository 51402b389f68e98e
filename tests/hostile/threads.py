"""Threads, tasks and timers that outlast their call, or work beside it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import breaks, fault, harmless_but_lasting, right
from tests.hostile.healthy import answer, whole


def _started(target: Any, *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


@right
def a_thread_that_stays(http: HttpResponse, call: Call) -> Any:
    _started(time.sleep, 60)
    return answer()


@harmless_but_lasting
def a_thread_that_is_no_daemon(http: HttpResponse, call: Call) -> Any:
    threading.Thread(target=time.sleep, args=(60,)).start()
    return answer()


@harmless_but_lasting
def a_hundred_threads_that_stay(http: HttpResponse, call: Call) -> Any:
    for _ in range(100):
        _started(time.sleep, 60)
    return answer()


@harmless_but_lasting
def a_busy_thread_that_stays(http: HttpResponse, call: Call) -> Any:
    def busy() -> None:
        while True:
            pass

    _started(busy)
    return answer()


@right
def a_thread_that_raises(http: HttpResponse, call: Call) -> Any:
    def raises() -> None:
        raise RuntimeError("in a thread")

    _started(raises).join()
    return answer()


@right
def a_thread_that_exits(http: HttpResponse, call: Call) -> Any:
    _started(sys.exit, 0).join()
    return answer()


@fault("raised KeyboardInterrupt")
def a_thread_that_interrupts_the_main_one(http: HttpResponse, call: Call) -> Any:
    import _thread

    _started(_thread.interrupt_main).join()
    time.sleep(60)


@right
def a_timer_that_raises_later(http: HttpResponse, call: Call) -> Any:
    def raises() -> None:
        raise RuntimeError("later")

    timer = threading.Timer(0.01, raises)
    timer.daemon = True
    timer.start()
    return answer()


@harmless_but_lasting
def an_executor_that_is_not_shut_down(http: HttpResponse, call: Call) -> Any:
    executor = concurrent.futures.ThreadPoolExecutor(4)
    executor.submit(time.sleep, 60)
    return answer()


@right
def an_executor_that_is(http: HttpResponse, call: Call) -> Any:
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        return executor.submit(answer).result()


@breaks("SHP-1", "PRV-2")
def a_future_as_message(http: HttpResponse, call: Call) -> Any:
    return answer(message=concurrent.futures.Future())


@fault("returned Future <Future")
def a_future_as_answer(http: HttpResponse, call: Call) -> Any:
    return concurrent.futures.Future()


@right
async def a_task_that_is_left_behind(http: HttpResponse, call: Call) -> Any:
    asyncio.get_running_loop().create_task(asyncio.sleep(60))
    return answer()


@right
async def a_task_that_raises_and_is_never_awaited(http: HttpResponse, call: Call) -> Any:
    async def raises() -> None:
        raise RuntimeError("nobody looks")

    asyncio.get_running_loop().create_task(raises())
    await asyncio.sleep(0)
    return answer()


@right
async def a_coroutine_that_is_never_awaited(http: HttpResponse, call: Call) -> Any:
    asyncio.sleep(1)  # type: ignore[unused-coroutine]
    return answer()


@right
async def a_coroutine_that_returns_a_coroutine_is_awaited_once(http: HttpResponse, call: Call) -> Any:
    return await asyncio.sleep(0, answer())


@fault("returned coroutine <coroutine")
async def a_coroutine_of_a_coroutine(http: HttpResponse, call: Call) -> Any:
    return asyncio.sleep(0, answer())


@fault("raised RuntimeError")
async def a_second_loop_inside_of_the_first(http: HttpResponse, call: Call) -> Any:
    return asyncio.run(asyncio.sleep(0, answer()))


@right
def an_own_loop(http: HttpResponse, call: Call) -> Any:
    return asyncio.run(asyncio.sleep(0, answer()))


@harmless_but_lasting
async def an_executor_of_the_loop_that_stays_busy(http: HttpResponse, call: Call) -> Any:
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 60)
    return answer()


@fault("raised RuntimeError: Event loop stopped before Future completed")
async def a_loop_that_is_stopped(http: HttpResponse, call: Call) -> Any:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(10)


@fault("raised RuntimeError: Cannot close a running event loop")
async def a_loop_that_is_closed_while_it_runs(http: HttpResponse, call: Call) -> Any:
    asyncio.get_running_loop().close()


@right
def a_loop_of_its_own_as_the_current_one(http: HttpResponse, call: Call) -> Any:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.close()
    return answer()


@harmless_but_lasting
async def an_exception_handler_of_the_loop_that_exits(http: HttpResponse, call: Call) -> Any:
    def leaves(*_: Any) -> None:
        raise SystemExit(0)

    asyncio.get_running_loop().set_exception_handler(leaves)
    return answer()


@right
async def slow_callbacks_in_debug_mode(http: HttpResponse, call: Call) -> Any:
    asyncio.get_running_loop().set_debug(True)
    return answer()


@right
def a_finalizer_that_raises(http: HttpResponse, call: Call) -> Any:
    class Resource:
        def __del__(self) -> None:
            raise RuntimeError("in a finalizer")

    Resource()
    return answer()


@right
def a_finalizer_that_exits(http: HttpResponse, call: Call) -> Any:
    class Resource:
        def __del__(self) -> None:
            sys.exit(0)

    Resource()
    return answer()


@right
def a_weak_reference_whose_callback_raises(http: HttpResponse, call: Call) -> Any:
    class Resource:
        pass

    def raises(_: Any) -> None:
        raise RuntimeError("gone")

    made = Resource()
    reference = weakref.ref(made, raises)
    del made
    assert reference() is None
    return answer()


@harmless_but_lasting
def a_trace_function_that_raises(http: HttpResponse, call: Call) -> Any:
    def trace(*_: Any) -> Any:
        raise RuntimeError("traced")

    threading.settrace(trace)
    return answer()


@harmless_but_lasting
def a_profiler_of_all_threads(http: HttpResponse, call: Call) -> Any:
    threading.setprofile(lambda *_: None)
    sys.setprofile(lambda *_: None)
    return answer()


@harmless_but_lasting
def a_switch_interval_of_a_minute(http: HttpResponse, call: Call) -> Any:
    sys.setswitchinterval(60)
    return answer()


@right
def a_context_variable_that_stays(http: HttpResponse, call: Call) -> Any:
    contextvars.ContextVar[int]("number").set(1)
    return answer()


@right
def a_warning_in_a_thread(http: HttpResponse, call: Call) -> Any:
    _started(warnings.warn, "old", DeprecationWarning).join()
    return answer()


@right
def a_child_that_ends(http: HttpResponse, call: Call) -> Any:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return answer()


@fault("did not come back within 1 s")
def a_stream_of_a_thread_that_never_says_it_is_done(chunks: Iterator[bytes], call: Call) -> Any:
    import queue

    events: queue.Queue[Any] = queue.Queue()
    _started(lambda: list(map(events.put, whole())))
    while True:
        yield events.get()


@right
def a_signal_handler_of_children(http: HttpResponse, call: Call) -> Any:
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return answer()
