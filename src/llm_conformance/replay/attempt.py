"""One call of an adapter's method: it runs on the worker thread and collects what the method returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.replay.worker import awaited, consume
from llm_conformance.rules.outcome import as_mapping

_CONTENT_FIELDS = ("delta", "tool_call", "attachment", "annotations")


class Attempt:
    """One call of an adapter's method.

    Args:
        cell: What is called.
        call: What the method is given.
        http: Status and headers of the recorded response, for `parse` and `parse_stream`.
        exchange: What the transport observes; None for methods that send no request.

    Attributes:
        fault: Why nothing can be judged; None if something can.
        hung: Whether the call did not return within its time limit.
        response: The response as a mapping; None if none was returned.
        returned: The response as the adapter's own object; None if none was returned.
        events: The events that were returned.
        invalid_events: Items of the stream that are no events, as (position, description).
        buffered: Whether `parse_stream` showed no content before it asked for the last piece; None if unknown.
    """

    def __init__(self, cell: Cell, call: Call, http: HttpResponse, exchange: OpenExchange | None) -> None:
        self.adapter = cell.adapter
        self.scenario = cell.scenario
        self.method = cell.method
        self.call = call
        self.interaction = cell.scenario.interactions[cell.mode]
        self.http = http
        self.exchange = exchange
        self.fault: str | None = None
        self.hung = False
        self.response: Mapping[str, Any] | None = None
        self.returned: Any = None
        self.events: list[Mapping[str, Any]] = []
        self.invalid_events: list[tuple[int, str]] = []
        self.buffered: bool | None = None
        self._content_shown = False

    def run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call the method and collect what it returns. Raises what the method raises."""
        method: Callable[..., Any] = getattr(self.adapter.instance, self.method)
        if self.method == "complete":
            self._take_response(awaited(method(self.call), loop))
        elif self.method == "parse":
            whole = HttpResponse(self.http.status, self.http.headers, self.interaction.body)
            self._take_response(awaited(method(whole, self.call), loop))
        elif self.method == "stream":
            consume(method(self.call), loop, self._take_event)
        else:
            consume(method(self._pieces(), self.call), loop, self._take_event)

    def inputs(self) -> dict[str, Any]:
        """Return the current values of everything that the method was given."""
        try:
            return self.call.to_dict() | {"http": self.http.to_dict()}
        except RecursionError:
            return {}  # the adapter has put a value into itself

    def _take_response(self, value: Any) -> None:
        try:
            self.response, self.returned = as_mapping(value), value
        except TypeError as error:
            self.fault = f"returned {error}"

    def _take_event(self, value: Any) -> None:
        try:
            event = as_mapping(value)
            if event.get("response") is not None:
                event["response"] = as_mapping(event["response"])
                if event.get("event_type") == "response.completed":
                    own = value.get("response") if isinstance(value, Mapping) else getattr(value, "response", None)
                    self.returned = event["response"] if own is None else own
        except TypeError as error:
            self.invalid_events.append((len(self.events), str(error)))
            return
        self.events.append(event)
        if any(event.get(field) for field in _CONTENT_FIELDS):
            self._content_shown = True
            if self.exchange:
                self.exchange.content_shown.set()

    def _pieces(self) -> Iterator[bytes]:
        """Yield the stream piece by piece. When the last one is asked for, note whether content was shown before."""
        pieces = list(self.scenario.pieces(self.interaction))
        for number, piece in enumerate(pieces, start=1):
            if number == len(pieces) and self.scenario.cuts is None:
                self.buffered = not self._content_shown
            yield piece
