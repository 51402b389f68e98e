"""Exceptions that lie, raise when they are read, or are none of Python's usual ones."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile.expected import fault


@fault("raised KeyboardInterrupt")
def an_interrupt(http: HttpResponse, call: Call) -> Any:
    raise KeyboardInterrupt


@fault("raised GeneratorExit")
def a_generator_exit(http: HttpResponse, call: Call) -> Any:
    raise GeneratorExit


@fault("raised CancelledError")
def a_cancellation(http: HttpResponse, call: Call) -> Any:
    raise asyncio.CancelledError


@fault("raised StopIteration")
def a_stop_iteration(http: HttpResponse, call: Call) -> Any:
    raise StopIteration("no more")


@fault("raised BaseException: base")
def a_base_exception(http: HttpResponse, call: Call) -> Any:
    raise BaseException("base")


@fault("raised MemoryError")
def a_memory_error(http: HttpResponse, call: Call) -> Any:
    raise MemoryError


@fault("raised RecursionError")
def an_endless_recursion(http: HttpResponse, call: Call) -> Any:
    return an_endless_recursion(http, call)


@fault("raised SystemExit: 0")
def an_exit_with_zero(http: HttpResponse, call: Call) -> Any:
    raise SystemExit(0)


@fault("raised SystemExit: good bye")
def an_exit_with_a_text(http: HttpResponse, call: Call) -> Any:
    raise SystemExit("good bye")


@fault("raised ExceptionGroup: several")
def a_group(http: HttpResponse, call: Call) -> Any:
    raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])


@fault("raised BaseExceptionGroup")
def a_group_with_an_interrupt(http: HttpResponse, call: Call) -> Any:
    raise BaseExceptionGroup("several", [KeyboardInterrupt()])


@fault("raised AssertionError")
def a_failed_assertion(http: HttpResponse, call: Call) -> Any:
    raise AssertionError


@fault("raised UnicodeDecodeError")
def bytes_of_another_encoding(http: HttpResponse, call: Call) -> Any:
    return b"\xff".decode()


@fault("raised TypeError: exceptions must derive from BaseException")
def a_text_as_an_exception(http: HttpResponse, call: Call) -> Any:
    raise "broken"  # type: ignore[misc]  # noqa: B016


@fault("raised NotImplementedError")
def not_written_yet(http: HttpResponse, call: Call) -> Any:
    raise NotImplementedError


@fault("raised Warning")
def a_warning(http: HttpResponse, call: Call) -> Any:
    raise Warning("careful")


def _own(**members: Any) -> Callable[[], Exception]:
    return type("OwnError", (Exception,), members)


def _exits(*_: Any) -> Any:
    raise SystemExit(0)


def _interrupts(*_: Any) -> Any:
    raise KeyboardInterrupt


def _raises(*_: Any) -> Any:
    raise ValueError("no")


@fault("(its text cannot be had: SystemExit)")
def a_text_that_exits(http: HttpResponse, call: Call) -> Any:
    raise _own(__str__=_exits)()


@fault("(its text cannot be had: KeyboardInterrupt)")
def a_text_that_interrupts(http: HttpResponse, call: Call) -> Any:
    raise _own(__str__=_interrupts)()


@fault("(its text cannot be had: TypeError)")
def a_text_that_is_a_number(http: HttpResponse, call: Call) -> Any:
    raise _own(__str__=lambda self: 7)()


@fault("raised OwnError")
def a_repr_that_exits(http: HttpResponse, call: Call) -> Any:
    raise _own(__repr__=_exits)()


@fault("did not come back within 1 s")
def a_text_that_never_ends(http: HttpResponse, call: Call) -> Any:
    def text(self: Any) -> str:
        while True:
            pass

    raise _own(__str__=text)()


@fault("raised OwnError")
def a_status_that_raises(http: HttpResponse, call: Call) -> Any:
    raise _own(status_code=property(_raises))()


@fault("raised OwnError")
def a_status_that_exits(http: HttpResponse, call: Call) -> Any:
    raise _own(status_code=property(_exits))()


@fault("raised OwnError")
def a_response_that_raises(http: HttpResponse, call: Call) -> Any:
    raise _own(response=property(_raises))()


@fault("raised OwnError")
def a_retry_after_that_raises(http: HttpResponse, call: Call) -> Any:
    raise _own(retry_after=property(_raises))()


@fault("raised OwnError")
def headers_that_raise(http: HttpResponse, call: Call) -> Any:
    raise _own(headers=property(_interrupts))()


@fault("raised OwnError")
def an_origin_that_raises(http: HttpResponse, call: Call) -> Any:
    raise _own(original_error=property(_raises))()


@fault("raised OwnError")
def a_provider_that_raises(http: HttpResponse, call: Call) -> Any:
    raise _own(provider=property(_exits))()


@fault("raised OwnError")
def to_dict_that_raises(http: HttpResponse, call: Call) -> Any:
    raise _own(to_dict=_exits)()


@fault("raised OwnError")
def every_attribute_raises(http: HttpResponse, call: Call) -> Any:
    def getattribute(self: Any, name: str) -> Any:
        raise SystemExit(name)

    raise _own(__getattribute__=getattribute)()


@fault("raised OwnError")
def every_attribute_is_there(http: HttpResponse, call: Call) -> Any:
    raise _own(__getattr__=lambda self, name: self)()


@fault("raised OwnError")
def a_status_of_another_type(http: HttpResponse, call: Call) -> Any:
    raise _own(status_code="429")()


@fault("raised OwnError")
def a_status_of_five_thousand_digits(http: HttpResponse, call: Call) -> Any:
    raise _own(status_code=10**5000)()


@fault("raised OwnError")
def an_origin_whose_class_exits(http: HttpResponse, call: Call) -> Any:
    origin = type("Origin", (), {"__class__": property(_exits)})()
    raise _own(original_error=origin)()


@fault("raised OwnError")
def an_exception_that_is_its_own_cause(http: HttpResponse, call: Call) -> Any:
    error = _own()()
    error.__cause__ = error
    raise error


@fault("raised OwnError")
def causes_in_a_circle(http: HttpResponse, call: Call) -> Any:
    one, two = _own()(), _own()()
    one.__cause__, two.__cause__ = two, one
    raise one


@fault("raised ValueError: 999")
def a_thousand_causes(http: HttpResponse, call: Call) -> Any:
    error: Exception | None = None
    for number in range(1000):
        after = ValueError(number)
        after.__cause__ = error
        error = after
    assert error is not None
    raise error


@fault("raised ValueError: xxx")
def ten_megabytes_of_text(http: HttpResponse, call: Call) -> Any:
    raise ValueError("x" * 10_000_000)


@fault("raised ValueError")
def half_an_emoji_in_the_text(http: HttpResponse, call: Call) -> Any:
    raise ValueError("\ud83d")


@fault("raised ValueError")
def terminal_codes_in_the_text(http: HttpResponse, call: Call) -> Any:
    raise ValueError("\x1b[2J\x1b[32m1 passed\x1b[0m\0\r\n")


@fault("raised Δ\x1b[2J")
def a_class_with_terminal_codes_as_name(http: HttpResponse, call: Call) -> Any:
    raise type("Δ\x1b[2J", (Exception,), {})()


@fault("raised")
def a_class_without_a_name(http: HttpResponse, call: Call) -> Any:
    raise type("", (Exception,), {})()


@fault("raised OwnError")
def a_metaclass_whose_name_raises(http: HttpResponse, call: Call) -> Any:
    class Meta(type):
        @property
        def __name__(cls) -> str:  # type: ignore[override]
            raise SystemExit(0)

    class OwnError(Exception, metaclass=Meta):
        pass

    raise OwnError


@fault("raised OwnError")
def notes_that_are_no_list(http: HttpResponse, call: Call) -> Any:
    error = _own()()
    error.__notes__ = 7  # type: ignore[assignment]
    raise error


@fault("raised OwnError")
def arguments_that_raise_when_printed(http: HttpResponse, call: Call) -> Any:
    class Argument:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    raise _own()(Argument())  # type: ignore[call-arg]


@fault("raised OwnError")
def an_exception_without_a_traceback(http: HttpResponse, call: Call) -> Any:
    error = _own(with_traceback=lambda self, _: self)()
    error.__traceback__ = None
    raise error


@fault("raised TypeError")
def an_exception_that_cannot_be_built(http: HttpResponse, call: Call) -> Any:
    class OwnError(Exception):
        def __init__(self, status: int) -> None:
            super().__init__(status)

    raise OwnError  # type: ignore[call-arg]


@fault("raised SyntaxError")
def code_that_cannot_be_compiled(http: HttpResponse, call: Call) -> Any:
    return builtins.compile("def", "made.py", "exec")


@fault("raised ModuleNotFoundError")
def an_import_that_is_missing(http: HttpResponse, call: Call) -> Any:
    return __import__("no_such_module_anywhere")


@fault("raised RuntimeError: after")
def another_error_in_finally(http: HttpResponse, call: Call) -> Any:
    try:
        raise SystemExit(0)
    finally:
        raise RuntimeError("after")


@fault("raised AttributeError")
async def an_error_after_awaiting(http: HttpResponse, call: Call) -> Any:
    await asyncio.sleep(0)
    return http.nothing  # type: ignore[attr-defined]


@fault("raised SystemExit")
async def an_exit_of_a_task(http: HttpResponse, call: Call) -> Any:
    async def leaves() -> None:
        raise SystemExit(0)

    await asyncio.create_task(leaves())


@fault("raised CancelledError")
async def a_task_that_cancels_its_own_call(http: HttpResponse, call: Call) -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
