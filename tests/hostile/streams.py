"""Streams that are none, that end early or never, or whose events are odd."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from llm_conformance.contract import Call
from tests.hostile.expected import breaks, fault, right
from tests.hostile.healthy import answer, completed, delta, parse_stream, reasoning_delta, whole


@fault("raised TypeError: the stream is NoneType, which is no iterable of events")
def nothing(chunks: Iterable[bytes], call: Call) -> Any:
    return None


@fault("raised TypeError: the stream is dict, which is no iterable of events")
def a_whole_answer(chunks: Iterable[bytes], call: Call) -> Any:
    return answer()


@fault("raised TypeError: the stream is str, which is no iterable of events")
def a_text(chunks: Iterable[bytes], call: Call) -> Any:
    return "Eight."


@fault("raised TypeError: the stream is function, which is no iterable of events")
def a_generator_function_that_is_not_called(chunks: Iterable[bytes], call: Call) -> Any:
    def events() -> Any:
        yield from whole()

    return events


@fault("raised RuntimeError: no iterator")
def an_iterable_without_iterator(chunks: Iterable[bytes], call: Call) -> Any:
    class Events:
        def __iter__(self) -> Any:
            raise RuntimeError("no iterator")

    return Events()


@fault("raised TypeError: iter() returned non-iterator of type 'int'")
def an_iterator_that_is_a_number(chunks: Iterable[bytes], call: Call) -> Any:
    class Events:
        def __iter__(self) -> Any:
            return 7

    return Events()


@fault("raised SystemExit")
def an_iterator_that_exits(chunks: Iterable[bytes], call: Call) -> Any:
    class Events:
        def __iter__(self) -> Any:
            return self

        def __next__(self) -> Any:
            raise SystemExit(0)

    return Events()


@fault("raised RuntimeError: generator raised StopIteration")
def a_stop_iteration_inside(chunks: Iterable[bytes], call: Call) -> Any:
    yield delta("Ei")
    raise StopIteration


@fault("raised GeneratorExit")
def a_generator_exit_inside(chunks: Iterable[bytes], call: Call) -> Any:
    yield delta("Ei")
    raise GeneratorExit


@fault("raised KeyboardInterrupt")
def an_interrupt_inside(chunks: Iterable[bytes], call: Call) -> Any:
    yield delta("Ei")
    raise KeyboardInterrupt


@fault("raised ValueError: late")
def an_error_after_the_last_event(chunks: Iterable[bytes], call: Call) -> Any:
    yield from whole()
    raise ValueError("late")


@fault("raised ValueError: in finally")
def an_error_in_finally(chunks: Iterable[bytes], call: Call) -> Any:
    try:
        yield from whole()
    finally:
        raise ValueError("in finally")


@breaks("STR-2")
def no_events(chunks: Iterable[bytes], call: Call) -> Any:
    return iter(())


@breaks("STR-2")
def no_end(chunks: Iterable[bytes], call: Call) -> Any:
    yield from whole()[:-1]


@breaks("STR-7")
def a_list_of_events_instead_of_a_generator(chunks: Iterable[bytes], call: Call) -> Any:
    return list(parse_stream(chunks, call))


@right
def a_set_of_nothing_before_the_events(chunks: Iterable[bytes], call: Call) -> Any:
    return itertools.chain(set(), parse_stream(chunks, call))


@breaks("STR-3")
def an_event_that_is_a_number(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [*whole()[:-1], 7, whole()[-1]]


@breaks("STR-3")
def an_event_that_is_none(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [None, *whole()]


@breaks("STR-3")
def an_event_that_is_raw_bytes(chunks: Iterable[bytes], call: Call) -> Any:
    yield b"data: {}"
    yield from whole()


@fault("raised SystemExit")
def an_event_that_exits_when_it_is_looked_at(chunks: Iterable[bytes], call: Call) -> Any:
    class Event:
        def to_dict(self) -> Any:
            raise SystemExit(0)

    yield Event()


@breaks("STR-3")
def an_event_of_an_unknown_type(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [{"event_type": "made.up"}, *whole()]


@breaks("STR-3")
def an_event_without_a_type(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [{}, *whole()]


@breaks("STR-3")
def an_event_type_that_is_a_list(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [{"event_type": []}, *whole()]


@breaks("STR-3", "PRV-2")
def a_delta_that_is_bytes(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [{**delta("Eight."), "delta": b"Eight."}, *whole()]


@breaks("STR-3")
def a_delta_that_is_a_number(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [{**delta("Eight."), "delta": 8}, *whole()]


@breaks("STR-1")
def deltas_that_are_not_the_message(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [delta("Seven."), *whole()]


@breaks("STR-1")
def half_an_emoji_as_a_delta(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [delta("\ud83d"), *whole()]


@breaks("STR-2")
def two_ends(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [*whole(), completed(answer())]


@breaks("STR-1", "STR-2")
def events_after_the_end(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [*whole(), delta("more")]


@breaks("STR-3")
def an_end_without_a_response(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [*whole()[:-1], completed(None)]


@breaks("STR-2", "STR-3")
def an_end_whose_response_is_a_text(chunks: Iterable[bytes], call: Call) -> Any:
    yield from [*whole()[:-1], completed("Eight.")]


@breaks("STR-1")
def twenty_thousand_deltas(chunks: Iterable[bytes], call: Call) -> Any:
    yield from itertools.repeat(delta("x"), 20_000)
    yield from whole()


@right
def the_same_event_object_changed_in_place(chunks: Iterable[bytes], call: Call) -> Any:
    event: dict[str, Any] = {}
    for each in whole():
        event.clear()
        event.update(each)
        yield event


@right
def a_response_that_is_changed_after_it_was_given(chunks: Iterable[bytes], call: Call) -> Any:
    given = answer()
    yield from [*whole()[:-1], completed(given)]
    given["message"] = "Seven."


@right
def chunks_that_are_read_twice(chunks: Iterable[bytes], call: Call) -> Any:
    yield from parse_stream(chunks, call)
    list(chunks)


@breaks("STR-7")
def chunks_that_are_read_before_anything_is_shown(chunks: Iterable[bytes], call: Call) -> Any:
    yield from parse_stream(list(chunks), call)


@right
def chunks_that_are_closed(chunks: Iterator[bytes], call: Call) -> Any:
    yield from parse_stream(chunks, call)
    chunks.close()  # type: ignore[attr-defined]


@right
async def an_asynchronous_generator(chunks: Iterable[bytes], call: Call) -> Any:
    for each in parse_stream(chunks, call):
        await asyncio.sleep(0)
        yield each


@breaks("STR-7")
async def a_coroutine_that_returns_a_list_of_events(chunks: Iterable[bytes], call: Call) -> Any:
    return list(parse_stream(chunks, call))


@fault("raised RuntimeError")
async def an_asynchronous_generator_that_is_read_twice_at_once(chunks: Iterable[bytes], call: Call) -> Any:
    async def events() -> Any:
        for each in whole():
            await asyncio.sleep(0)
            yield each

    shared = events()
    await asyncio.gather(anext(shared), anext(shared))
    yield delta("Eight.")


@fault("raised TypeError")
def an_asynchronous_iterator_whose_next_is_none(chunks: Iterable[bytes], call: Call) -> Any:
    class Events:
        def __aiter__(self) -> Any:
            return self

        def __anext__(self) -> Any:
            return None

    return Events()


@fault("raised CancelledError")
async def a_cancellation_inside(chunks: Iterable[bytes], call: Call) -> Any:
    yield delta("Ei")
    raise asyncio.CancelledError


@right
async def an_asynchronous_generator_with_work_left_in_finally(chunks: Iterable[bytes], call: Call) -> Any:
    try:
        for each in parse_stream(chunks, call):
            yield each
    finally:
        await asyncio.sleep(0)


@fault("raised", "SHP-1", "STR-3")
def events_of_an_error_that_is_no_error(chunks: Iterable[bytes], call: Call) -> Any:
    yield reasoning_delta("Spiders are arachnids, so not six.")
    yield {"event_type": "response.error", "error": 7}


@fault("raised", "SHP-1", "STR-3")
def an_error_event_whose_status_is_odd(chunks: Iterable[bytes], call: Call) -> Any:
    yield {"event_type": "response.error", "error": {"error_type": [], "message": {}, "status_code": "x"}}
