"""Build the Outcome of a call that has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance.calling.result import CallResult
from llm_conformance.calling.without_values import without_values
from llm_conformance.contract import error_for_status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.matching import needed_capabilities, recorded_requests
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.rules import errors
from llm_conformance.rules.folding import kinds_shown
from llm_conformance.rules.outcome import Outcome, Raised, Returned
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode


@dataclass(frozen=True)
class Made:
    """A call that was made, with its cell, its exchange and its result.

    Attributes:
        exchange: What the transport observed; None for methods that send no request.
        limit_s: The time limit that the adapter was given, in seconds.
    """

    cell: Cell
    exchange: OpenExchange | None
    result: CallResult
    limit_s: float


def outcome_of(made: Made) -> Outcome:
    """Build the Outcome of a call. An unexpected error becomes `fault`."""
    result, exchange = made.result, made.exchange
    response, error = _end(made)
    seen = result.side_effects
    connections = (*seen.connections, *(exchange.foreign_requests if exchange else ()))
    besides: dict[str, Any] = {"connections": connections, "mutations": seen.mutations, "logs": seen.logs}
    own_fault = _own_fault(made)
    fault = own_fault
    if exchange is not None:
        asked = _was_asked(exchange) or bool(connections)
        unsupported = _cannot_be_asked(made, exchange, None if asked else error)
        if unsupported is None and exchange.difference is not None:
            return Outcome(difference=exchange.difference, raised=error, hung=result.hung, **besides)
        fault = fault or _without_request(exchange, error, connections)
        if unsupported is None and fault is None:
            unsupported = _unsupported(exchange, error)
        if unsupported is not None:
            return Outcome(unsupported=unsupported, hung=result.hung, **besides)
    if error is not None and not _is_allowed(made, error):
        fault = fault or f"raised {error}"
    # A fault that the suite states itself, for example that a value is not a response, was not raised.
    was_raised = error is not None and own_fault is None
    cause = error.cause if error is not None and was_raised else without_values(fault or "")
    return Outcome(
        response=None if response is None else Returned(response),
        returned=result.returned,
        request=exchange.request if exchange else None,
        attempts=exchange.attempts if exchange else 0,
        repeats=exchange.repeats if exchange else 0,
        events=result.events,
        invalid_events=result.invalid_events,
        raised=error,
        fault=fault,
        cause=None if fault is None else cause,
        traceback=None if fault is None or error is None else error.traceback,
        hung=result.hung,
        buffered=_buffered(made),
        **besides,
    )


def _own_fault(made: Made) -> str | None:
    """Return why the call has no result; None if it has a result or raised an error."""
    if made.result.hung:
        return f"{made.result.fault}; call.timeout_s was {made.limit_s:g}, which is the limit for all attempts"
    return made.result.fault


def _end(made: Made) -> tuple[Mapping[str, Any] | None, Raised | None]:
    """Return (response, error) of a call. In a stream, each is from the last event that carries one."""
    result = made.result
    response = result.response
    table, from_provider = made.cell.adapter.errors, _provider_reports_error(made)
    error = None if result.error is None else errors.raised(result.error, table, from_provider)
    if error is not None and result.explain and not (error.contract_type and _is_allowed(made, error)):
        cause, traceback = result.explain()
        error = replace(error, cause=cause, traceback=traceback)
    for event in result.events:
        if event.get("event_type") == "response.completed" and isinstance(event.get("response"), Mapping):
            response = event["response"]
        if event.get("event_type") == "response.error":
            error = errors.read_error_event(event, table, from_provider)
    return response, error


def _cannot_be_asked(made: Made, exchange: OpenExchange, error: Raised | None) -> str | None:
    """Return why the adapter cannot make this call. It may say so, or not declare a capability that the call needs.

    `error` is what the adapter raised before it sent a request; None if it raised nothing.
    """
    declared = made.cell.adapter.capabilities
    difference = exchange.difference
    if difference is not None:
        capability = difference.capability
        is_needed = capability is not None and capability not in declared
        return f"`{capability}` is not declared: {difference}" if is_needed else None
    if error is None:
        return None
    names = (error.type, *(made.result.error.names if made.result.error else ()))
    if "NotImplementedError" in names and not _is_plain(made.cell.scenario):
        return f"the adapter cannot make this call: {error}"
    missing = sorted(needed_capabilities(exchange.scenario, made.cell.interaction.request) - declared)
    return f"`{missing[0]}` is not declared, and the call needs it: raised {error}" if missing else None


def _is_plain(scenario: Scenario) -> bool:
    """Return True if every library can make the call: one text of a user without a name, and no tools."""
    message = scenario.messages[0] if len(scenario.messages) == 1 else {}
    is_text = isinstance(message, Mapping) and isinstance(message.get("content"), str) and "name" not in message
    return is_text and not scenario.tools and not any(scenario.params.values())


def _was_asked(exchange: OpenExchange) -> bool:
    """Return True if the transport has seen a request. It sees none if it refuses the connection."""
    return exchange.mode is not None or exchange.missing_mode is not None or exchange.attempts > 0


def _without_request(exchange: OpenExchange, error: Raised | None, connections: tuple[str, ...]) -> str | None:
    """Return a message if the adapter sent no request, else None."""
    if exchange.mode is not None or exchange.missing_mode or exchange.scenario.connection_refused:
        return None
    fault = exchange.scenario.fault
    if fault and fault.kind == "silence" and error is not None and error.contract_type == "TimeoutError":
        return None  # on a slow machine, the short time limit of this call ends before the request is sent
    recorded = recorded_requests(exchange.scenario)
    tried = f"; it tried {connections[0]}; recorded was {recorded}{exchange.way_out}" if connections else ""
    if error is not None:
        return f"raised {error} (before it asked call.base_url for anything{tried})"
    return f"never asked call.base_url for anything{tried}"


def _unsupported(exchange: OpenExchange, error: Raised | None) -> str | None:
    """Return why nothing can be judged, if that is not the fault of the adapter; else None."""
    if exchange.missing_mode:
        return f"the adapter asked for {exchange.missing_mode}, which was not recorded"
    outage = exchange.scenario.outage
    if outage is None or error is None or exchange.attempts != 1:
        return None
    is_judged = "errors" in exchange.capabilities
    if is_judged and error.contract_type != error_for_status(outage.status).__name__:
        return None
    return f"the adapter does not ask again after a {outage.status}, and need not"


def _is_allowed(made: Made, error: Raised) -> bool:
    """Return True if a recording was replayed and its expected values allow the error."""
    expected = _expected(made)
    return expected is not None and (expected.error is not None or expected.allows(error.contract_type))


def _provider_reports_error(made: Made) -> bool:
    """Return True if the adapter received an error of the provider, not just a lost connection or a spoilt body."""
    expected = _expected(made)
    is_reported = expected is not None and expected.error is not None and not expected.fault
    return is_reported or made.cell.scenario.outage is not None


def _expected(made: Made) -> Expected | None:
    """Return the expected values of the replayed recording; None if there is none."""
    mode: Mode = "stream" if made.cell.method in ("stream", "parse_stream") else "json"
    if made.exchange and made.exchange.mode:
        mode = made.exchange.mode
    return made.cell.scenario.expected.get(mode)


def _buffered(made: Made) -> bool | None:
    """Return True if the adapter showed no content before the last frame; None if this was not observed.

    It is also True for a `stream` method that requests a plain response, because all content then comes at the end.
    """
    exchange, expected = made.exchange, _expected(made)
    if expected is None or expected.early_kinds.isdisjoint(kinds_shown(made.result.events)):
        return None
    if exchange is None:
        return made.result.buffered
    if not exchange.hold_s:
        return None
    return exchange.buffered if exchange.mode == "stream" else made.cell.method == "stream"
