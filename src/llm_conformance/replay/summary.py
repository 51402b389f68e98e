"""Sum up a call that has ended: build the Outcome that rules judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract import error_for_status
from llm_conformance.replay.attempt import Attempt
from llm_conformance.replay.matching import needed_capabilities, recorded_requests
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.rules import errors
from llm_conformance.rules.folding import kinds_shown
from llm_conformance.rules.outcome import Outcome, Raised, Returned
from llm_conformance.rules.violation import without_values
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode


@dataclass(frozen=True)
class SideEffects:
    """What a call did besides returning. The attributes are those of `Outcome`."""

    connections: tuple[str, ...]
    mutations: tuple[str, ...]
    logs: tuple[str, ...]


def outcome_of(attempt: Attempt, exception: BaseException | None, side_effects: SideEffects) -> Outcome:
    """Build the Outcome of a call that raised `exception`, if any. An unexpected error becomes `fault`."""
    response, error = _end(attempt, exception)
    exchange, seen = attempt.exchange, vars(side_effects)
    fault = attempt.fault
    if exchange is not None:
        asked = _was_asked(exchange) or bool(side_effects.connections)
        unsupported = _cannot_be_asked(attempt, exchange, exception, None if asked else error)
        if unsupported is None and exchange.difference is not None:
            return Outcome(difference=exchange.difference, raised=error, hung=attempt.hung, **seen)
        fault = fault or _without_request(exchange, error, side_effects.connections)
        if unsupported is None and fault is None:
            unsupported = _unsupported(exchange, error)
        if unsupported is not None:
            return Outcome(unsupported=unsupported, hung=attempt.hung, **seen)
    if error is not None and not _is_allowed(attempt, error):
        fault = fault or f"raised {error}"
    cause, traceback = None, None
    if fault is not None:
        # What the attempt reports itself, such as a value that is no response, was not raised.
        was_raised = attempt.fault is None
        cause = error.cause if error is not None and was_raised else without_values(fault)
        traceback = None if error is None else error.traceback
    return Outcome(
        response=None if response is None else Returned(response),
        returned=attempt.returned,
        request=exchange.request if exchange else None,
        attempts=exchange.attempts if exchange else 0,
        repeats=exchange.repeats if exchange else 0,
        events=tuple(attempt.events),
        invalid_events=tuple(attempt.invalid_events),
        raised=error,
        fault=fault,
        cause=cause,
        traceback=traceback,
        hung=attempt.hung,
        buffered=_buffered(attempt),
        **seen,
    )


def _end(attempt: Attempt, exception: BaseException | None) -> tuple[Mapping[str, Any] | None, Raised | None]:
    """Return the response and the error of a call; for a stream, those of its last events that carry one."""
    response = attempt.response
    table, from_provider = attempt.adapter.errors, _provider_reports_error(attempt)
    error = None if exception is None else errors.read_exception(exception, table, from_provider)
    for event in attempt.events:
        if event.get("event_type") == "response.completed" and isinstance(event.get("response"), Mapping):
            response = event["response"]
        if event.get("event_type") == "response.error":
            error = errors.read_error_event(event, table, from_provider)
    return response, error


def _cannot_be_asked(
    attempt: Attempt, exchange: OpenExchange, exception: BaseException | None, error: Raised | None
) -> str | None:
    """Return why the adapter cannot make this call: it says so, or lacks a capability that the call needs.

    `error` is what it raised before it asked for anything; None if it did not.
    """
    declared = attempt.adapter.capabilities
    difference = exchange.difference
    if difference is not None:
        capability = difference.capability
        is_needed = capability is not None and capability not in declared
        return f"`{capability}` is not declared: {difference}" if is_needed else None
    if error is None:
        return None
    is_refused = isinstance(exception, NotImplementedError) or error.type == "NotImplementedError"
    if is_refused and not _is_plain(attempt.scenario):
        return f"the adapter cannot make this call: {error}"
    missing = sorted(needed_capabilities(exchange.scenario, attempt.interaction.request) - declared)
    return f"`{missing[0]}` is not declared, and the call needs it: raised {error}" if missing else None


def _is_plain(scenario: Scenario) -> bool:
    """Return True if any library can make the call: one text of a user without a name, and no tools."""
    message = scenario.messages[0] if len(scenario.messages) == 1 else {}
    is_text = isinstance(message, Mapping) and isinstance(message.get("content"), str) and "name" not in message
    return is_text and not scenario.tools and not any(scenario.params.values())


def _was_asked(exchange: OpenExchange) -> bool:
    """Return True if the adapter sent a request, as far as anybody can tell: a refused one is seen by nobody."""
    return exchange.mode is not None or exchange.missing_mode is not None or exchange.attempts > 0


def _without_request(exchange: OpenExchange, error: Raised | None, connections: tuple[str, ...]) -> str | None:
    """Return that the adapter asked for nothing, if so."""
    if exchange.mode is not None or exchange.missing_mode or exchange.scenario.connection_refused:
        return None
    fault = exchange.scenario.fault
    if fault and fault.kind == "silence" and error is not None and error.contract_type == "TimeoutError":
        return None  # on a slow machine the time limit, which is short here, runs out before the request is sent
    recorded = recorded_requests(exchange.scenario)
    tried = f"; it tried {connections[0]}; recorded was {recorded}{exchange.way_out}" if connections else ""
    if error is not None:
        return f"raised {error} (before it asked call.base_url for anything{tried})"
    return f"never asked call.base_url for anything{tried}"


def _unsupported(exchange: OpenExchange, error: Raised | None) -> str | None:
    """Return why nothing can be judged, if the adapter did what it may do."""
    if exchange.missing_mode:
        return f"the adapter asked for {exchange.missing_mode}, which was not recorded"
    outage = exchange.scenario.outage
    if outage is None or error is None or exchange.attempts != 1:
        return None
    if error.contract_type != error_for_status(outage.status).__name__:
        return None
    return f"the adapter does not ask again after a {outage.status}, and need not"


def _is_allowed(attempt: Attempt, error: Raised) -> bool:
    """Return True if the expected values of the replayed recording, if there is one, allow an error."""
    expected = _expected(attempt)
    return expected is not None and (expected.error is not None or expected.allows(error.contract_type))


def _provider_reports_error(attempt: Attempt) -> bool:
    """Return True if the adapter is sent an error of the provider, and not only a lost connection or a spoilt body."""
    expected = _expected(attempt)
    is_reported = expected is not None and expected.error is not None and not expected.fault
    return is_reported or attempt.scenario.outage is not None


def _expected(attempt: Attempt) -> Expected | None:
    """Return the expected values of the replayed recording; None if there is none."""
    mode: Mode = "stream" if attempt.method in ("stream", "parse_stream") else "json"
    if attempt.exchange and attempt.exchange.mode:
        mode = attempt.exchange.mode
    return attempt.scenario.expected.get(mode)


def _buffered(attempt: Attempt) -> bool | None:
    """Return True if content of the frames before the last one was shown late, None if that was not observed.

    A `stream` method that requests a plain response shows all of it at the end.
    """
    exchange, expected = attempt.exchange, _expected(attempt)
    if expected is None or expected.early_kinds.isdisjoint(kinds_shown(attempt.events)):
        return None
    if exchange is None:
        return attempt.buffered
    if not exchange.hold_s:
        return None
    return exchange.buffered if exchange.mode == "stream" else attempt.method == "stream"
