"""One call under way: what the adapter is given, and what it has returned so far."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llm_conformance.contract import Call, HttpResponse, error_for_status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.matching import Serving
from llm_conformance.replay.worker import consume, returned
from llm_conformance.rules import errors
from llm_conformance.rules.outcome import Outcome, Raised, Returned, as_mapping
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

_CONTENT = ("delta", "tool_call", "attachment", "annotations")


class Attempt:
    """One call under way: what the adapter is given, and what it has shown so far."""

    def __init__(self, cell: Cell, call: Call, http: HttpResponse, serving: Serving | None) -> None:
        self.adapter = cell.adapter
        self.scenario = cell.scenario
        self.method = cell.method
        self.call = call
        self.interaction = cell.scenario.interactions[cell.mode]
        self.http = http
        self.serving = serving
        self.fault: str | None = None
        self.hung = False
        self.response: Mapping[str, Any] | None = None
        self.returned: Any = None
        self.events: list[Mapping[str, Any]] = []
        self.invalid_events: list[tuple[int, str]] = []
        self.content_shown = False
        self.buffered: bool | None = None

    def run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call the method and take in what it gives; on the worker thread."""
        method: Callable[..., Any] = getattr(self.adapter.instance, self.method)
        if self.method == "complete":
            self._take_response(returned(method(self.call), loop))
        elif self.method == "parse":
            whole = HttpResponse(self.http.status, self.http.headers, self.interaction.body)
            self._take_response(returned(method(whole, self.call), loop))
        elif self.method == "stream":
            consume(method(self.call), loop, self._take_event)
        else:
            consume(method(self._chunks(), self.call), loop, self._take_event)

    def inputs(self) -> dict[str, Any]:
        """Return all that the adapter was given, to see whether it changed any of it."""
        try:
            return self.call.to_dict() | {"http": self.http.to_dict()}
        except RecursionError:
            return {}  # the adapter has made it contain itself

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
        if any(event.get(key) for key in _CONTENT):
            self.content_shown = True
            if self.serving:
                self.serving.content_seen.set()

    def _chunks(self) -> Iterator[bytes]:
        """Give the stream piece by piece, and note whether content was shown before the last frame was asked for."""
        pieces = list(self.scenario.pieces(self.interaction))
        for number, piece in enumerate(pieces, start=1):
            if number == len(pieces) and self.scenario.cuts is None:
                self.buffered = not self.content_shown
            yield piece

    def outcome(self, raised: BaseException | None, expected_by_mode: Mapping[Mode, Expected], **seen: Any) -> Outcome:
        """Sum up; an end that no truth allows becomes the one message with which every rule fails."""
        response, error = self._end(raised)
        buffered = self.buffered
        fault = self.fault
        mode: Mode = "stream" if self.method in ("stream", "parse_stream") else "json"
        if self.serving:
            mode = self.serving.mode or mode
            buffered = self._arrived_late(self.serving)
            fault = fault or self._wrong_request(self.serving, error, seen["connections"])
            if self.serving.lacking and fault is None:
                return Outcome(
                    unsupported=f"the adapter asked for {self.serving.lacking}, which was not recorded", **seen
                )
            if self.scenario.outage and error and fault is None and self.serving.requests == 1:
                status = self.scenario.outage.status
                if error.contract_type == error_for_status(status).__name__:
                    return Outcome(unsupported=f"the adapter does not ask again after a {status}, and need not", **seen)
        expected = expected_by_mode.get(mode)
        allowed = expected is not None and (
            expected.error is not None or (error and error.contract_type in expected.may_raise)
        )
        if error is not None and not allowed:
            fault = fault or f"raised {error}"
        return Outcome(
            response=None if response is None else Returned(response),
            returned=self.returned,
            request=self.serving.sent if self.serving else None,
            attempts=self.serving.requests if self.serving else 0,
            repeats=self.serving.repeats if self.serving else 0,
            events=tuple(self.events),
            invalid_events=tuple(self.invalid_events),
            raised=error,
            fault=fault,
            hung=self.hung,
            buffered=buffered,
            **seen,
        )

    def _end(self, raised: BaseException | None) -> tuple[Mapping[str, Any] | None, Raised | None]:
        """Return the response and the error with which it ended, of a stream the last ones."""
        response = self.response
        error = None if raised is None else errors.read_exception(raised, self.adapter.errors)
        for event in self.events:
            if event.get("event_type") == "response.completed" and isinstance(event.get("response"), Mapping):
                response = event["response"]
            if event.get("event_type") == "response.error":
                error = errors.read_error_event(event, self.adapter.errors)
        return response, error

    def _arrived_late(self, serving: Serving) -> bool | None:
        """Whether deltas came late; who asks for the plain answer and gives it out as a stream has no early ones."""
        if not serving.holds:
            return None
        return serving.buffered if serving.mode == "stream" else self.method == "stream"

    @staticmethod
    def _wrong_request(serving: Serving, error: Raised | None, connections: tuple[str, ...]) -> str | None:
        if serving.mode is not None or serving.mismatch or serving.lacking or serving.scenario.connection_refused:
            return serving.mismatch
        tried = f"; it tried {connections[0]}; recorded was {serving.recorded}" if connections else ""
        if error is not None:
            return f"raised {error} (before it asked call.base_url for anything{tried})"
        return f"never asked call.base_url for anything{tried}"
