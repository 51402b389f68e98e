"""Run exchanges: build the call, call the adapter, and build the Outcome."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance.adapter.declarations import METHODS, Method
from llm_conformance.calling.fair_time import TOO_BUSY
from llm_conformance.calling.result import Event, MethodCall, shows_content
from llm_conformance.contract import Call, HttpResponse
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.pointers import without
from llm_conformance.replay.callers import Callers
from llm_conformance.replay.cell import PURE, Callee, Cell
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.replay.patience import Patience
from llm_conformance.replay.summary import Made, outcome_of
from llm_conformance.replay.transport import Transport
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.outcome import Outcome
from llm_conformance.scenarios import canary
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES
from llm_conformance.wire.tool_names import with_tool_names

GRACE_S = 2.0
"""How many seconds longer than `call.timeout_s` a call may take, because machines may be slow."""

SILENCE_TIMEOUT_S = 1.0
"""`call.timeout_s` of a call to a server that falls silent."""
SHORT_SILENCE_TIMEOUT_S = 0.1
"""The same for generated scenarios and core faults, because there are many of them."""

STARVED_S = 2.0
"""In seconds.

If the machine does not run this process for so long in a call, the machine may have caused a time-out.
"""
TIMES_THE_LIMIT = (1, 10, 30)
"""The time limit of a call in each attempt, as a multiple of its usual limit (`Runner.run`)."""

HANGS_UNTIL_GIVEN_UP = 3
"""The number of hung calls after which a method is no longer called for an API."""

_REMEMBERED = 256

_Earlier = Mapping[int, Exchange]
"""Maps the position of an earlier answer in `messages` to its exchange."""


class Runner:
    """Runs the exchanges of cells. Owns the transport, the network guard and the worker thread.

    Args:
        timeout_s: The time limit of a call, in seconds.
        transport: How recorded responses reach the adapter.
        options: The command-line options that affect exchanges. Commands that reproduce a failure repeat them.
    """

    def __init__(self, timeout_s: float, transport: Transport, options: tuple[str, ...] = ()) -> None:
        self.options = options
        self._timeout_s = timeout_s
        self._patience = Patience(timeout_s)
        self._transport = transport
        self._callers = Callers(transport)
        self._hangs: Counter[Callee] = Counter()
        self._times = 1
        self._abandoned: set[str] = set()
        self.exchange = functools.lru_cache(maxsize=_REMEMBERED)(self.run)

    @property
    def gave_up(self) -> bool:
        """Whether a hung call may still be running."""
        return self._callers.gave_up

    @property
    def outside(self) -> Counter[str]:
        """Connections that were refused outside of calls, by the place in the code that tried to connect."""
        return self._callers.outside

    def close(self) -> None:
        """Stop the worker thread and the transport."""
        self._callers.close()
        self._transport.shutdown()

    def hands_over_pieces(self, method: Method) -> bool:
        """Return True if a method receives a stream in pieces."""
        return method in PURE or self._transport.hands_over_pieces

    def run(self, cell: Cell) -> Exchange:
        """Run a cell's exchange. `exchange` does the same and remembers the last exchanges.

        In two cases the adapter is called again with more time: it failed while the machine was too busy to run this
        process, or the short time limit of a call to a silent server ended before the server fell silent.
        """
        earlier = {} if cell.asks_nothing else self._earlier(cell)
        for self._times in TIMES_THE_LIMIT:
            exchange, opened = self._run_fairly(cell, earlier)
            starved_s = self._callers.starved_s
            is_starved = starved_s >= STARVED_S and _may_be_too_late(exchange)
            if not is_starved and not _ended_before_the_silence(exchange, opened):
                return exchange
        return replace(exchange, outcome=Outcome(blocked=_too_busy(starved_s))) if is_starved else exchange

    def _run_fairly(self, cell: Cell, earlier: _Earlier) -> tuple[Exchange, OpenExchange | None]:
        if not cell.holds_last_frame:
            return self._run_once(cell, earlier)
        exchange, opened = self._run_once(cell, earlier, self._patience.hold_s(cell))
        is_accused = exchange.outcome.buffered and exchange.mode == "stream"
        if is_accused and self._patience.needs_proof(cell):
            exchange = self._proven(cell, exchange, earlier)
        return exchange, opened

    def _earlier(self, cell: Cell) -> _Earlier:
        """Return the exchanges for the earlier answers."""
        calls = {at: replace(cell, scenario=scenario) for at, scenario in cell.scenario.earlier.items()}
        return {at: self._earlier_exchange(_in_recorded_mode(call)) for at, call in calls.items()}

    def _earlier_exchange(self, cell: Cell) -> Exchange:
        exchange: Exchange = self.exchange(cell)
        # If the adapter's process has ended in the meantime, its object is gone. The new process has to answer again.
        return self.run(cell) if self._callers.is_lost(exchange.outcome.returned) else exchange

    def _proven(self, cell: Cell, accused: Exchange, earlier: _Earlier) -> Exchange:
        """Run a cell again, and hold the last frame for longer, to see whether the adapter is only slow.

        If this call fails, the first exchange is returned. The adapter then waits for the last frame for longer than a
        call may take, and that is its only fault.
        """
        again, opened = self._run_once(cell, earlier, self._patience.longest_s)
        is_confirmed = again.outcome.buffered or again.outcome.fault is not None
        held_s = opened.held_s if opened else 0.0
        self._patience.learn(cell, None if is_confirmed else held_s)
        return accused if again.outcome.fault is not None else again

    def _run_once(self, cell: Cell, earlier: _Earlier, hold_s: float = 0) -> tuple[Exchange, OpenExchange | None]:
        """Return (exchange of a cell, what its transport saw). The last frame is held for at most `hold_s` seconds."""
        exchange = None
        if cell.method not in PURE:
            network = self._callers.network(cell.adapter)
            base_url = self._base_url_before(earlier)
            exchange = self._transport.open(cell.scenario, hold_s, cell.adapter.capabilities, network, base_url)
        interaction = cell.interaction
        http = HttpResponse(interaction.status, dict(interaction.headers))
        call = self.build_call(cell, _base_url(cell, exchange), http, earlier)
        try:
            outcome = self._without_call(cell, earlier) or self._call_adapter(cell, call, http, exchange)
        finally:
            if exchange:
                self._transport.close(exchange)
        if exchange and outcome.hung:
            self._abandoned.add(exchange.base_url)
        mode = exchange.mode or cell.mode if exchange else cell.mode
        related = _RelatedExchanges(self, cell)
        return Exchange(cell.adapter, cell.scenario, cell.method, mode, call, outcome, related), exchange

    def _base_url_before(self, earlier: _Earlier) -> str | None:
        """Return the base URL of the conversation's first answer; None if there is none.

        A hung call may still send requests to its base URL, so no later exchange gets the same URL.
        """
        first = earlier[min(earlier)] if earlier else None
        return first.call.base_url if first and first.call.base_url not in self._abandoned else None

    def build_call(self, cell: Cell, base_url: str, http: HttpResponse, earlier: _Earlier) -> Call:
        """Build the call. Mutable values are copied, so that an adapter can change only its own copies."""
        scenario, method = cell.scenario, cell.method
        return Call(
            provider=scenario.api.provider,
            api=scenario.api.name,
            model=scenario.model,
            messages=_messages(scenario, earlier),
            tools=copy.deepcopy(scenario.tools),
            params=copy.deepcopy(scenario.params[cell.mode]),
            request=_request_without_answers(scenario.interactions[cell.mode].request, scenario.expected[cell.mode]),
            base_url=base_url,
            path=scenario.api.path_for(cell.mode == "stream", scenario.model),
            api_key=CANARY_KEY,
            stream=cell.mode == "stream",
            timeout_s=self._times * self._limit_s(scenario),
            correlation_id=f"llm-conformance/{scenario.id}/{method}",
            think_profile=scenario.think_profile,
            http=http if method == "parse_stream" else None,
        )

    def _without_call(self, cell: Cell, earlier: _Earlier) -> Outcome | None:
        """Return the Outcome of a call that need not be made; None if the call has to be made."""
        if not cell.runnable:
            return Outcome(unsupported=f"the adapter has no method {cell.method}")
        failed = next((each for each in earlier.values() if each.outcome.returned is None), None)
        if failed is not None:
            return _cannot_follow(failed)
        if cell.scenario.over_http and not self.hands_over_pieces(cell.method):
            return Outcome(unsupported="no connection and no attempt can fail in this transport")
        if self._hangs[cell.callee] >= HANGS_UNTIL_GIVEN_UP:
            return Outcome(blocked=f"not called any more: {HANGS_UNTIL_GIVEN_UP} calls before this one hung")
        return None

    def _call_adapter(self, cell: Cell, call: Call, http: HttpResponse, exchange: OpenExchange | None) -> Outcome:
        """Call the adapter, watch it, and build the Outcome."""
        pieces = tuple(cell.scenario.pieces(cell.interaction)) if cell.method == "parse_stream" else ()
        body = cell.interaction.body if cell.method == "parse" else b""
        whole = replace(http, body=body)
        asked = MethodCall(cell.method, call, whole, pieces, watches_pieces=cell.scenario.cuts is None)

        def on_event(event: Event) -> None:
            if exchange and shows_content(event):
                exchange.content_shown.set()

        result = self._callers.call(cell.adapter, asked, call.timeout_s + GRACE_S, on_event)
        if result.hung:
            # Only calls that have an answer count as hung, because calls that are to fail often hang.
            self._hangs[cell.callee] += all(expected.error is None for expected in cell.scenario.expected.values())
        return outcome_of(Made(cell, exchange, result, call.timeout_s))

    def _limit_s(self, scenario: Scenario) -> float:
        """Return the time limit of a call in seconds.

        If the server falls silent, the limit always runs out, so it is short.
        """
        if scenario.fault is None or scenario.fault.kind != "silence":
            return self._timeout_s
        is_one_of_many = scenario.provenance == "generated" or scenario.is_core_fault
        return min(self._timeout_s, SHORT_SILENCE_TIMEOUT_S if is_one_of_many else SILENCE_TIMEOUT_S)


def _may_be_too_late(exchange: Exchange) -> bool:
    """Return True if the adapter reports an unexpected error.

    A call that hung had all of its time, so it does not count.
    """
    raised, expected = exchange.outcome.raised, exchange.expected.error
    return raised is not None and not exchange.outcome.hung and (expected is None or raised.contract_type != expected)


def _ended_before_the_silence(exchange: Exchange, opened: OpenExchange | None) -> bool:
    """Return True if the call ended before the server had sent everything that comes before its silence."""
    fault, raised = exchange.scenario.fault, exchange.outcome.raised
    if opened is None or fault is None or fault.kind != "silence" or opened.silent.is_set():
        return False
    return raised is not None and raised.contract_type == "TimeoutError"


def _too_busy(starved_s: float) -> str:
    return (
        f"{TOO_BUSY}: it did not run the process for {starved_s:.1f} s of the last of {len(TIMES_THE_LIMIT)} attempts"
    )


def _in_recorded_mode(cell: Cell) -> Cell:
    """Return the cell in a recorded mode. Earlier answers of bare recordings have no stream."""
    if cell.mode in cell.scenario.interactions:
        return cell
    (mode,) = cell.scenario.modes
    return replace(cell, mode=mode, method=METHODS[mode][METHODS[cell.mode].index(cell.method)])


def _messages(scenario: Scenario, earlier: _Earlier) -> tuple[Any, ...]:
    """Return the conversation, with the adapter's own objects for its earlier answers."""
    messages = [
        earlier[position].outcome.returned if position in earlier else copy.deepcopy(message)
        for position, message in enumerate(scenario.messages)
    ]
    answers = {
        position: [(call.id, call.name) for call in exchange.expected.tool_calls]
        for position, exchange in earlier.items()
    }
    return tuple(with_tool_names(messages, answers))


def _base_url(cell: Cell, exchange: OpenExchange | None) -> str:
    if exchange is not None:
        return exchange.base_url
    place = cell.scenario.api.place(cell.scenario.interactions[cell.mode].uri)
    return place.base_url if place else cell.scenario.api.base_urls[0]


def _request_without_answers(request: Mapping[str, Any], expected: Expected) -> dict[str, Any]:
    """Return the recorded request without the parts of earlier answers that the adapter has to add itself."""
    return without(request, list(expected.round_trip.sent) if expected.round_trip else ())


def _cannot_follow(earlier: Exchange) -> Outcome:
    """Return the Outcome of a call that is not made, because the call for an earlier answer failed.

    That answer's scenario reports the failure.
    """
    outcome = earlier.outcome
    if outcome.unsupported is not None and not earlier.scenario.is_bare:
        return Outcome(unsupported=f"in the turn before, {earlier.scenario.id}: {outcome.unsupported}")
    why = outcome.blocked or outcome.difference or outcome.fault or outcome.raised or "no response came back"
    if earlier.scenario.is_bare:  # no rule judges that call, whose response the suite wrote from a later request
        return Outcome(unsupported=f"the adapter has no earlier answer to send back: {outcome.unsupported or why}")
    return Outcome(blocked=f"the turn before, {earlier.scenario.id}, failed: {why}")


@dataclass(frozen=True)
class _RelatedExchanges:
    """Runs the exchanges that a rule compares with the judged exchange."""

    runner: Runner
    cell: Cell

    def other_mode(self) -> Exchange | None:
        cell = self.cell
        mode = MODES[cell.mode == "json"]
        method = METHODS[mode][METHODS[cell.mode].index(cell.method)]
        if mode not in cell.scenario.modes or method not in cell.adapter.methods:
            return None
        return self._run(replace(cell, mode=mode, method=method))

    def whole_frames(self) -> Exchange | None:
        uncut = self.cell.scenario.uncut
        return None if uncut is None else self._run(replace(self.cell, scenario=uncut))

    def with_canary(self) -> Exchange | None:
        swapped = canary.swapped(self.cell.scenario, self.cell.mode)
        return None if swapped is None else self._run(replace(self.cell, scenario=swapped))

    def _run(self, cell: Cell) -> Exchange:
        exchange: Exchange = self.runner.exchange(cell)
        return exchange
