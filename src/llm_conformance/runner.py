"""Running exchanges: the call is made, the adapter is asked, and what it shows is noted down."""

from __future__ import annotations

import asyncio
import copy
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance import canary, raising
from llm_conformance.certificates import cheap_certificates
from llm_conformance.contract import Call, HttpResponse, error_for_status
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.driver import Driver, HungError, consume, returned
from llm_conformance.exchange import Exchange
from llm_conformance.guard import Guard
from llm_conformance.logs import watched_for
from llm_conformance.outcome import Outcome, Raised, Returned, as_mapping
from llm_conformance.plan import PURE, Cell
from llm_conformance.pointers import without
from llm_conformance.scenarios import Scenario
from llm_conformance.server import PATIENCE_S
from llm_conformance.serving import Serving, Transport
from llm_conformance.subject import FACES, Face
from llm_conformance.truths import MODES, Mode, Truth

VAIN_S = 1.0
"""How long a call may take, in seconds, that the server does not answer; of generated ones there are many."""
VAIN_GENERATED_S = 0.3

HANGS_UNTIL_GIVEN_UP = 3
_REMEMBERED = 256
_CONTENT = ("delta", "tool_call", "attachment", "annotations")


class Runner:
    """Runs each cell's exchange once and remembers the last ones. Owns transport, guard and worker thread.

    `options` are those of the command line that made it as it is.
    """

    def __init__(self, timeout_s: float, transport: Transport, options: tuple[str, ...] = ()) -> None:
        self.options = options
        self._timeout_s = timeout_s
        self._driver = Driver()
        self._transport = transport
        self._guard = Guard(transport.ports)
        self._gave_up = False
        self._hangs: Counter[tuple[str, Face, str]] = Counter()
        self.exchange = functools.lru_cache(maxsize=_REMEMBERED)(self.run)

    def close(self) -> None:
        """Stop the worker thread and the transport."""
        self._driver.close()
        self._transport.shutdown()

    def _limit_s(self, scenario: Scenario) -> float:
        """Return how long a call may take; one that is to wait in vain, not as long as others."""
        waits = scenario.fault is not None and scenario.fault.kind == "silence"
        vain_s = VAIN_GENERATED_S if scenario.evidence == "generated" else VAIN_S
        return min(self._timeout_s, vain_s) if waits else self._timeout_s

    def hands_over_pieces(self, face: Face) -> bool:
        """Whether it makes a difference to a method how a stream is cut."""
        return face in PURE or self._transport.hands_over_pieces

    def run(self, cell: Cell) -> Exchange:
        """Run a cell's exchange; `exchange` does the same and remembers the last ones."""
        subject, scenario, face = cell.subject, cell.scenario, cell.face
        interaction = scenario.interactions[cell.mode]
        before = {
            number: self.exchange(replace(cell, scenario=earlier)) for number, earlier in scenario.earlier.items()
        }
        if face in ("complete", "stream"):
            serving = self._transport.open(scenario, holds=cell.holds_last_frame)
            base_url = serving.base_url
        else:
            serving = None
            place = scenario.provider.place(interaction.uri)
            base_url = place.base_url if place else scenario.provider.base_urls[0]
        http = HttpResponse(interaction.status, dict(interaction.headers))
        call = Call(
            provider=scenario.provider.id,
            api=scenario.provider.api,
            model=scenario.model,
            messages=tuple(
                before[number].outcome.returned if number in before else copy.deepcopy(message)
                for number, message in enumerate(scenario.messages)
            ),
            tools=copy.deepcopy(scenario.tools),
            params=copy.deepcopy(scenario.params[cell.mode]),
            request=_told(interaction.request, scenario.truths[cell.mode]),
            base_url=base_url,
            path=scenario.provider.path_for(cell.mode == "stream", scenario.model),
            api_key=CANARY_KEY,
            stream=cell.mode == "stream",
            timeout_s=self._limit_s(scenario),
            correlation_id=f"llm-conformance/{scenario.id}/{face}",
            think_profile=scenario.think_profile,
            http=http if face == "parse_stream" else None,
        )
        lacking = next((each for each in before.values() if each.outcome.returned is None), None)
        attempt = _Attempt(cell, call, http, serving)
        outcome = _cannot_follow(lacking) if lacking else self._ask(attempt, scenario.truths)
        mode = serving.mode or cell.mode if serving else cell.mode
        return Exchange(subject, scenario, face, mode, call, outcome, _Others(self, cell))

    def _ask(self, attempt: _Attempt, truths: Mapping[Mode, Truth]) -> Outcome:
        if attempt.scenario.over_http and attempt.serving and not self._transport.hands_over_pieces:
            self._transport.close(attempt.serving)
            return Outcome(unsupported="no connection and no attempt can fail in this transport")
        method = (attempt.subject.label, attempt.face, str(attempt.scenario.provider))
        if self._hangs[method] >= HANGS_UNTIL_GIVEN_UP:
            return Outcome(fault=f"not asked any more: {HANGS_UNTIL_GIVEN_UP} calls before this one hung", hung=True)
        limit_s = self._limit_s(attempt.scenario)
        before = attempt.inputs()
        raised: BaseException | None = None
        with self._guard.watching() as connections, cheap_certificates(), watched_for(CANARY_KEY) as leaks:
            try:
                raised = self._driver.run(attempt.run, limit_s + PATIENCE_S)
            except HungError as hung:
                self._gave_up = True
                self._hangs[method] += all(truth.error is None for truth in truths.values())
                self._guard.ignore_thread(hung.thread)
                self._transport.give_up(hung.thread)
                attempt.hung = True
                attempt.fault = (
                    f"did not come back within {limit_s + PATIENCE_S:g} s; "
                    f"call.timeout_s was {limit_s:g}, which has to do for all attempts"
                )
            finally:
                if attempt.serving:
                    self._transport.close(attempt.serving)
        after = attempt.inputs()
        strays = attempt.serving.strays if attempt.serving else ()
        return attempt.outcome(
            raised,
            truths,
            connections=(*connections, *strays),
            logs=tuple(leaks),
            mutations=tuple(key for key in before if before[key] != after.get(key)),
        )

    @property
    def gave_up(self) -> bool:
        """Whether a call is still running that nobody waits for any more."""
        return self._gave_up


def _told(request: Mapping[str, Any], truth: Truth) -> dict[str, Any]:
    """Return the recorded request as an adapter is told it: without what it has to put there itself."""
    return without(request, list(truth.demand.sent) if truth.demand else ())


def _cannot_follow(before: Exchange) -> Outcome:
    """Return the outcome of a turn after one that gave nothing to go on from, which is judged where it is."""
    why = before.outcome.fault or before.outcome.raised or before.outcome.unsupported or "no response came back"
    return Outcome(unsupported=f"in the turn before, {before.scenario.id}: {why}")


@dataclass(frozen=True)
class _Others:
    """The exchanges that a rule may want to compare one with; each is run when it is asked for."""

    runner: Runner
    cell: Cell

    def counterpart(self) -> Exchange | None:
        cell, modes = self.cell, MODES
        other = modes[cell.mode == "json"]
        face = FACES[other][FACES[cell.mode].index(cell.face)]
        if other not in cell.scenario.modes or face not in cell.subject.faces:
            return None
        return self._run(replace(cell, mode=other, face=face))

    def uncut(self) -> Exchange | None:
        whole = self.cell.scenario.uncut
        return None if whole is None else self._run(replace(self.cell, scenario=whole))

    def canary(self) -> Exchange | None:
        swapped = canary.swapped(self.cell.scenario, self.cell.mode)
        return None if swapped is None else self._run(replace(self.cell, scenario=swapped))

    def _run(self, cell: Cell) -> Exchange:
        exchange: Exchange = self.runner.exchange(cell)
        return exchange


class _Attempt:
    """One call under way: what the adapter is given, and what it has shown so far."""

    def __init__(self, cell: Cell, call: Call, http: HttpResponse, serving: Serving | None) -> None:
        self.subject = cell.subject
        self.scenario = cell.scenario
        self.face = cell.face
        self.call = call
        self.interaction = cell.scenario.interactions[cell.mode]
        self.http = http
        self.serving = serving
        self.fault: str | None = None
        self.hung = False
        self.response: Mapping[str, Any] | None = None
        self.returned: Any = None
        self.events: list[Mapping[str, Any]] = []
        self.event_faults: list[tuple[int, str]] = []
        self.content_shown = False
        self.buffered: bool | None = None

    def run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call the method and take in what it gives; on the worker thread."""
        method: Callable[..., Any] = getattr(self.subject.instance, self.face)
        if self.face == "complete":
            self._take_response(returned(method(self.call), loop))
        elif self.face == "parse":
            whole = HttpResponse(self.http.status, self.http.headers, self.interaction.body)
            self._take_response(returned(method(whole, self.call), loop))
        elif self.face == "stream":
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
            self.event_faults.append((len(self.events), str(error)))
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

    def outcome(self, raised: BaseException | None, truths: Mapping[Mode, Truth], **seen: Any) -> Outcome:
        """Sum up; an end that no truth allows becomes the one message with which every rule fails."""
        response, error = self._end(raised)
        buffered = self.buffered
        fault = self.fault
        mode: Mode = "stream" if self.face in ("stream", "parse_stream") else "json"
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
        truth = truths.get(mode)
        allowed = truth is not None and (truth.error is not None or (error and error.contract_type in truth.may_raise))
        if error is not None and not allowed:
            fault = fault or f"raised {error}"
        return Outcome(
            response=None if response is None else Returned(response),
            returned=self.returned,
            request=self.serving.sent if self.serving else None,
            attempts=self.serving.requests if self.serving else 0,
            repeats=self.serving.repeats if self.serving else 0,
            events=tuple(self.events),
            event_faults=tuple(self.event_faults),
            raised=error,
            fault=fault,
            hung=self.hung,
            buffered=buffered,
            **seen,
        )

    def _end(self, raised: BaseException | None) -> tuple[Mapping[str, Any] | None, Raised | None]:
        """Return the response and the error with which it ended, of a stream the last ones."""
        response = self.response
        error = None if raised is None else raising.raised(raised, self.subject.errors)
        for event in self.events:
            if event.get("event_type") == "response.completed" and isinstance(event.get("response"), Mapping):
                response = event["response"]
            if event.get("event_type") == "response.error":
                error = raising.raised_event(event, self.subject.errors)
        return response, error

    def _arrived_late(self, serving: Serving) -> bool | None:
        """Whether deltas came late; who asks for the plain answer and gives it out as a stream has no early ones."""
        if not serving.holds:
            return None
        return serving.buffered if serving.mode == "stream" else self.face == "stream"

    @staticmethod
    def _wrong_request(serving: Serving, error: Raised | None, connections: tuple[str, ...]) -> str | None:
        if serving.mode is not None or serving.mismatch or serving.lacking or serving.scenario.nobody_listens:
            return serving.mismatch
        tried = f"; it tried {connections[0]}; recorded was {serving.recorded}" if connections else ""
        if error is not None:
            return f"raised {error} (before it asked call.base_url for anything{tried})"
        return f"never asked call.base_url for anything{tried}"
