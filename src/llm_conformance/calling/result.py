"""The inputs of a call of an adapter's method, and its result as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.calling.exceptions.facts import ErrorFacts
from llm_conformance.contract import Call, HttpResponse

Event = Mapping[str, Any]
OnEvent = Callable[[Event], None]
"""A function that is called with each event as soon as it arrives."""

MAX_EVENTS = 200_000
"""The most events of a stream. A stream with more is taken for an endless one."""

_CONTENT_FIELDS = ("delta", "tool_call", "attachment", "annotations")


@dataclass(frozen=True)
class MethodCall:
    """One call of an adapter's method.

    Attributes:
        method: The name of the method.
        call: The call that every method is given.
        http: The recorded response for `parse`; the same without its body for `parse_stream`.
        pieces: The pieces of the stream for `parse_stream`.
        watches_pieces: Whether to note if content is shown before the adapter asks for the last piece.
    """

    method: str
    call: Call
    http: HttpResponse
    pieces: tuple[bytes, ...] = ()
    watches_pieces: bool = False


@dataclass(frozen=True)
class SideEffects:
    """What a call did besides returning.

    Attributes:
        connections: Refused connections, each with the place in the code that tried.
        mutations: Names of the fields of the call that the adapter changed.
        logs: Sentences that say what wrote the API key into a log or to the terminal.
    """

    connections: tuple[str, ...] = ()
    mutations: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallResult:
    """The result of a call.

    Attributes:
        response: The response as exact JSON values; None if the method returned no response.
        returned: The response for the messages of later calls: the adapter's own object, or a `Handle` to it.
        events: The events that were returned.
        invalid_events: Items of the stream that are not events, as (position, description).
        error: The exception that the method raised; None if it raised nothing.
        fault: Why there is no result; None if there is a result.
        hung: Whether the call did not return in time.
        buffered: Whether `parse_stream` showed no content before it asked for the last piece; None if unknown.
        side_effects: What the call did besides returning.
        explain: A function that returns (cause, traceback) of `error`.
    """

    response: Mapping[str, Any] | None = None
    returned: Any = None
    events: tuple[Event, ...] = ()
    invalid_events: tuple[tuple[int, str], ...] = ()
    error: ErrorFacts | None = None
    fault: str | None = None
    hung: bool = False
    buffered: bool | None = None
    side_effects: SideEffects = SideEffects()
    explain: Callable[[], tuple[str, str]] | None = None


def shows_content(event: Event) -> bool:
    """Return True if an event shows a part of the answer."""
    return any(event.get(field) for field in _CONTENT_FIELDS)
