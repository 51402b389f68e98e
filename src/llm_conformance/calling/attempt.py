"""One call of an adapter's method in this process. What the method returns becomes exact JSON values (`values`)."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llm_conformance.calling.certificates import cheap_certificates
from llm_conformance.calling.exceptions.facts import ErrorFacts, facts_of
from llm_conformance.calling.exceptions.tracebacks import class_and_place, traceback_of
from llm_conformance.calling.log_watch import loggers_that_write
from llm_conformance.calling.network_guard import Guard
from llm_conformance.calling.result import CallResult, MethodCall, OnEvent, SideEffects, shows_content
from llm_conformance.calling.values import NoMappingError, as_mapping
from llm_conformance.calling.worker import awaited, consume
from llm_conformance.contract.call import CANARY_KEY


class Attempt:
    """One call of an adapter's method.

    Args:
        instance: The adapter.
        asked: The method and its inputs.
        on_event: Called with each event.

    Attributes:
        exception: What the method raised; None if it raised nothing.
    """

    def __init__(self, instance: Any, asked: MethodCall, on_event: OnEvent) -> None:
        self._instance = instance
        self._asked = asked
        self._on_event = on_event
        self.exception: BaseException | None = None
        self._error: ErrorFacts | None = None
        self._fault: str | None = None
        self._response: Mapping[str, Any] | None = None
        self._returned: Any = None
        self._events: list[Mapping[str, Any]] = []
        self._invalid_events: list[tuple[int, str]] = []
        self._buffered: bool | None = None
        self._content_shown = False

    def watched(self, guard: Guard, run: Callable[[], None]) -> SideEffects:
        """Make the call with the function `run`, and return its side effects. The function has to call `self.run`."""
        before = self._inputs()
        with guard.watching() as connections, cheap_certificates(), loggers_that_write(CANARY_KEY) as loggers:
            run()
        after = self._inputs()
        mutations = tuple(name for name in before if _differ(before[name], after.get(name)))
        return SideEffects(tuple(connections), mutations, tuple(f"the logger {name!r} wrote it" for name in loggers))

    def run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call the method and collect what it returns or raises."""
        try:
            with warnings.catch_warnings():
                # Under `pytest -W error` a warning of the adapter would become a failure.
                warnings.simplefilter("default")
                self._call(loop)
        except BaseException as error:  # a SystemExit is the adapter's failure, not the end of the run
            self.exception, self._error = error, facts_of(error)

    def result(self, side_effects: SideEffects, fault: str | None = None) -> CallResult:
        """Return what was collected. A `fault` says that the call did not return in time."""
        error = self.exception
        return CallResult(
            response=self._response,
            returned=self._returned,
            events=tuple(self._events),
            invalid_events=tuple(self._invalid_events),
            error=self._error,
            fault=fault or self._fault,
            hung=fault is not None,
            buffered=self._buffered,
            side_effects=side_effects,
            explain=None if error is None else lambda: _explained(error),
        )

    def _call(self, loop: asyncio.AbstractEventLoop) -> None:
        asked = self._asked
        method: Callable[..., Any] = getattr(self._instance, asked.method)
        if asked.method == "complete":
            self._take_response(awaited(method(asked.call), loop))
        elif asked.method == "parse":
            self._take_response(awaited(method(asked.http, asked.call), loop))
        elif asked.method == "stream":
            consume(method(asked.call), loop, self._take_event)
        else:
            consume(method(self._pieces(), asked.call), loop, self._take_event)

    def _inputs(self) -> dict[str, Any]:
        """Return the current values of everything that the method is given."""
        try:
            return self._asked.call.to_dict() | {"http": self._asked.http.to_dict()}
        except BaseException:
            return {}  # the adapter made a value contain itself, or added something that cannot be read

    def _take_response(self, value: Any) -> None:
        try:
            self._response, self._returned = as_mapping(value), value
        except NoMappingError as error:
            self._fault = f"returned {error}"

    def _take_event(self, value: Any) -> None:
        try:
            event = as_mapping(value)
            if event.get("response") is not None:
                own = value.get("response") if isinstance(value, Mapping) else getattr(value, "response", None)
                event["response"] = as_mapping(event["response"] if own is None else own)
                if event.get("event_type") == "response.completed":
                    self._returned = event["response"] if own is None else own
        except NoMappingError as error:
            self._invalid_events.append((len(self._events), str(error)))
            return
        self._events.append(event)
        self._content_shown = self._content_shown or shows_content(event)
        self._on_event(event)

    def _pieces(self) -> Iterator[bytes]:
        """Yield the pieces of the stream.

        When the adapter asks for the last piece, note whether it has shown content.
        """
        pieces = self._asked.pieces
        for number, piece in enumerate(pieces, start=1):
            if number == len(pieces) and self._asked.watches_pieces:
                self._buffered = not self._content_shown
            yield piece


def _differ(before: Any, after: Any) -> bool:
    """Return True if two values differ. The adapter may have added an object that says it equals everything."""
    if before is after:
        return False
    kind = type(before)
    if kind is not type(after):
        return True
    if kind is dict:
        return bool(before.keys() != after.keys()) or any(_differ(each, after[key]) for key, each in before.items())
    if kind is list:
        return len(before) != len(after) or any(map(_differ, before, after))
    try:
        return bool(before != after)
    except BaseException:  # an object of the adapter that cannot be compared
        return True


def _explained(error: BaseException) -> tuple[str, str]:
    """Return (cause, traceback) of an exception. If reading it raises, both have only its name."""
    try:
        return class_and_place(error), traceback_of(error)
    except BaseException:
        name: str = type.__dict__["__name__"].__get__(type(error))
        return name, f"{name} (its traceback cannot be had)"
