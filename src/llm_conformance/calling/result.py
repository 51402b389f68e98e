"""What an adapter's method is called with, and what comes of it, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.calling.exceptions.facts import ErrorFacts
from llm_conformance.contract import Call, HttpResponse

Event = Mapping[str, Any]
OnEvent = Callable[[Event], None]
"""What is called with each event as soon as it is there."""

_CONTENT_FIELDS = ("delta", "tool_call", "attachment", "annotations")


@dataclass(frozen=True)
class MethodCall:
    """One call of an adapter's method.

    Attributes:
        method: The name of the method.
        call: What each method is given.
        http: The recorded response, for `parse`; without its body, for `parse_stream`.
        pieces: The stream in pieces, for `parse_stream`.
        watches_pieces: Whether to note if content is shown before the last piece is asked for.
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
        logs: What wrote the API key into the log or to the terminal, as a sentence.
    """

    connections: tuple[str, ...] = ()
    mutations: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallResult:
    """What came of a call.

    Attributes:
        response: The response as exact JSON values; None if none was returned.
        returned: What stands for it in the messages of a later call: the adapter's own object, if it is here.
        events: The events that were returned.
        invalid_events: Items of the stream that are no events, as (position, description).
        error: The exception that the method raised; None if it raised none.
        fault: Why nothing can be judged; None if something can.
        hung: Whether the call did not return in time.
        buffered: Whether `parse_stream` showed no content before it asked for the last piece; None if unknown.
        side_effects: What it did besides.
        explain: Returns what exceptions with the same cause have in common, and the traceback, of `error`.
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
