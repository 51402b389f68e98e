"""Calls that do not come back, each in another way; each is ended where it hangs, and the place is named."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import queue
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import fault, right
from tests.hostile.healthy import answer

_LATE = "did not come back within 1 s; it was at"


@fault(_LATE)
def an_endless_regular_expression(http: HttpResponse, call: Call) -> Any:
    return re.match(r"(a+)+$", "a" * 40 + "b")


@fault(_LATE)
def a_number_of_a_billion_digits(http: HttpResponse, call: Call) -> Any:
    return 10 ** (10**9)


@fault(_LATE)
def a_sum_of_a_billion_numbers(http: HttpResponse, call: Call) -> Any:
    return sum(range(10**12))


@fault(_LATE)
def an_endless_loop(http: HttpResponse, call: Call) -> Any:
    while True:
        pass


@fault(_LATE)
def an_endless_loop_that_catches_everything(http: HttpResponse, call: Call) -> Any:
    while True:
        try:
            time.sleep(60)
        except BaseException:
            continue


@fault(_LATE)
def a_lock_that_nobody_frees(http: HttpResponse, call: Call) -> Any:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@fault(_LATE)
def a_queue_that_nobody_fills(http: HttpResponse, call: Call) -> Any:
    return queue.Queue[Any]().get()


@fault(_LATE)
def an_event_that_nobody_sets(http: HttpResponse, call: Call) -> Any:
    threading.Event().wait()


@fault(_LATE)
def a_thread_that_never_ends(http: HttpResponse, call: Call) -> Any:
    thread = threading.Thread(target=time.sleep, args=(60,), daemon=True)
    thread.start()
    thread.join()


@fault(_LATE)
def a_child_that_never_ends(http: HttpResponse, call: Call) -> Any:
    subprocess.run(["sleep", "60"], check=True)


@fault(_LATE)
def a_pipe_that_nobody_writes_to(http: HttpResponse, call: Call) -> Any:
    reading, _writing = os.pipe()
    return os.read(reading, 1)


@fault(_LATE)
def a_pipe_that_nobody_reads(http: HttpResponse, call: Call) -> Any:
    _reading, writing = os.pipe()
    os.write(writing, b"x" * 10_000_000)


@fault(_LATE)
def a_socket_that_nobody_answers(http: HttpResponse, call: Call) -> Any:
    ours, _theirs = socket.socketpair()
    return ours.recv(1)


@fault(_LATE)
def a_select_without_end(http: HttpResponse, call: Call) -> Any:
    return select.select([], [], [])


@fault(_LATE)
def a_signal_that_never_comes(http: HttpResponse, call: Call) -> Any:
    signal.pause()


@fault("did not come back within 1 s")
def a_process_that_stops_itself(http: HttpResponse, call: Call) -> Any:
    os.kill(os.getpid(), signal.SIGSTOP)


@fault(_LATE)
def signals_that_are_ignored(http: HttpResponse, call: Call) -> Any:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    time.sleep(60)


@fault("did not come back within 1 s")
def all_signals_are_blocked(http: HttpResponse, call: Call) -> Any:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(60)


@fault("did not come back within 1 s")
def the_signal_that_asks_where_it_hangs_is_ignored(http: HttpResponse, call: Call) -> Any:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    time.sleep(60)


@fault(_LATE)
def a_garbage_collection_that_hangs(http: HttpResponse, call: Call) -> Any:
    class Resource:
        def __del__(self) -> None:
            time.sleep(60)

    del (made := [Resource()])[:]
    return answer(extras={"made": made})


@fault(_LATE)
def input_from_the_terminal_is_awaited_again_and_again(http: HttpResponse, call: Call) -> Any:
    while not sys.stdin.readline():
        pass


@fault(_LATE)
async def an_asynchronous_sleep_in_finally(http: HttpResponse, call: Call) -> Any:
    try:
        return answer()
    finally:
        await asyncio.sleep(60)


@fault(_LATE)
async def a_future_that_nobody_sets(http: HttpResponse, call: Call) -> Any:
    await asyncio.get_running_loop().create_future()


@fault(_LATE)
async def a_task_that_waits_for_itself_in_a_circle(http: HttpResponse, call: Call) -> Any:
    one: asyncio.Event = asyncio.Event()
    await asyncio.gather(one.wait(), one.wait())


@fault(_LATE)
async def a_coroutine_that_blocks(http: HttpResponse, call: Call) -> Any:
    time.sleep(60)


@fault(_LATE)
async def a_coroutine_that_never_yields(http: HttpResponse, call: Call) -> Any:
    while True:
        await asyncio.sleep(0)


@fault(_LATE)
def a_stream_that_sleeps_in_finally(chunks: Iterator[bytes], call: Call) -> Any:
    try:
        yield {"event_type": "response.output_text.delta", "delta": "Eight."}
    finally:
        time.sleep(60)


@fault(_LATE)
def a_stream_that_waits_for_more_than_there_is(chunks: Iterator[bytes], call: Call) -> Any:
    for _ in chunks:
        pass
    while True:
        time.sleep(0.01)
        yield from chunks


@fault(_LATE)
async def an_asynchronous_stream_that_stops_half_way(chunks: Iterator[bytes], call: Call) -> Any:
    yield {"event_type": "response.output_text.delta", "delta": "Ei"}
    await asyncio.sleep(60)


@fault(_LATE)
def a_context_that_hangs_when_it_is_left(http: HttpResponse, call: Call) -> Any:
    with multiprocessing.Lock() as _, _Leaving():
        return answer()


class _Leaving:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: Any) -> None:
        time.sleep(60)


@right
def a_short_sleep(http: HttpResponse, call: Call) -> Any:
    time.sleep(0.1)
    return answer()
