"""RPL: the request asks what the call asks, and earlier answers go back in the form that the provider demands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.compare import show
from llm_conformance.formats.turns import objects
from llm_conformance.pointers import at_pointer
from llm_conformance.rules.conversations import different_turn, where_they_differ, with_referenced_items
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import always, rule
from llm_conformance.rules.violation import fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.round_trip import first_mismatch, first_missing_call, first_missing_text, leaks
from llm_conformance.wire.interaction import Mode


def _follows_an_answer(expected: Expected, _mode: Mode) -> bool:
    return expected.round_trip is not None


def _follows_reasoning(expected: Expected, _mode: Mode) -> bool:
    return expected.round_trip is not None and bool(expected.round_trip.absent or expected.round_trip.traces)


def _has_switches(expected: Expected, _mode: Mode) -> bool:
    return bool(expected.switches)


@rule("RPL-1", harm="refused next turn", capability="round_trip", when=_follows_an_answer, needs_request=True)
def test_earlier_reasoning_goes_back_exactly(exchange: Exchange) -> None:
    """Earlier reasoning goes back exactly as it came: in the provider's field, in its order, with the tool results.

    The provider refuses the next request, or the model goes on without its own trace and gives worse answers. In
    `call.messages`, an earlier answer is the very object that the adapter returned. The request also needs the text and
    the tool calls of earlier answers.

    If the provider has stored an answer, the request may refer to an item of the answer instead of repeating the item.

    Source: S0-41, S0-42, S0-43, S0-44, S0-45, S0-50.
    """
    round_trip = exchange.round_trip
    request = with_referenced_items(round_trip, exchange.request)
    missing_text, missing_call = first_missing_text(round_trip, request), first_missing_call(round_trip, request)
    difference = different_turn(round_trip, request)
    if missing_text is not None:
        fail(f"the earlier text {show(missing_text)}, in order", "a request that lacks it, or has it out of order")
    if missing_call is not None:
        call = f"{missing_call.name}({missing_call.arguments})"
        fail(f"the earlier tool call {call}, in order", "a request that lacks it, or has it out of order")
    if difference is not None:
        expected_turn, actual_turn, hint = difference
        fail(expected_turn, actual_turn, hint=hint)
    for pointer, expected in round_trip.sent.items():
        _expect_in_request(request, pointer, expected)


@rule("RPL-2", harm="refused next turn", capability="round_trip", when=_follows_reasoning, needs_request=True)
def test_earlier_reasoning_is_nowhere_else(exchange: Exchange) -> None:
    """Earlier reasoning is left out where the provider rejects it, and is never sent as visible text.

    The provider refuses the next request because of a field that it does not know. Or the model takes the trace for an
    earlier answer, and starts to write its reasoning as text.

    Source: S0-42.
    """
    round_trip, request = exchange.round_trip, exchange.request
    for pointer in round_trip.absent:
        actual = at_pointer(request, pointer)
        if actual is not None:
            fail(f"no {pointer} in the request", show(actual))
    for pointer, text in leaks(round_trip, request):
        fail("no earlier reasoning in visible text of the request", f"{pointer}: {show(text)}")
    for message in objects(request.get("messages")) if exchange.scenario.api.wire == "chat" else ():
        fields = [name for name in exchange.scenario.api.reasoning_fields if message.get(name)]
        if fields and message.get("role") != "assistant":
            fail("reasoning in assistant messages only", f"{fields[0]} in a {message.get('role')} message")


@rule("RPL-3", harm="wrong", capability="round_trip", when=_has_switches, needs_request=True)
def test_thinking_switches_are_sent_as_set(exchange: Exchange) -> None:
    """Thinking switches that the provider reads are sent as the call sets them; switches that are not set stay unset.

    The model thinks although it was told not to, or at a cost that the caller did not choose. `clear_thinking: false`
    is a choice of the caller, not an empty value. The provider table lists the switches.

    Source: S0-33, S0-34, S0-35, S0-36, S0-37, S0-38, S0-39, S0-40, C-17.
    """
    for pointer, expected in exchange.expected.switches.items():
        if expected is not None:
            _expect_in_request(exchange.request, pointer, expected)
        elif (actual := at_pointer(exchange.request, pointer)) is not None:
            fail(f"no {pointer} in the request: the call does not set it", show(actual))


@rule("RPL-4", harm="wrong", when=always, needs_request=True, compares_request=True)
def test_request_asks_what_the_call_asks(exchange: Exchange) -> None:
    """The request asks what the call asks: its model, messages, files, tools and switches, with its key, at its path.

    The provider gets another question than the caller asked: a message, a file, a tool or a switch is lost on the way.
    If the request differs, the suite replays no answer: this rule fails, and all others are blocked. In two cases, the
    whole call is unsupported instead: the difference is about a capability that the adapter does not declare, or the
    adapter raises NotImplementedError before it sends anything.

    These make no difference: defaults that a library adds, the order of keys and tools, the library's own ids for tool
    calls, and how a text is split into blocks.

    Source: S0-33, S0-37.
    """
    difference = exchange.difference
    if difference is not None:
        fail(difference.expected, difference.actual)


def _expect_in_request(request: Mapping[str, Any], pointer: str, expected: object) -> None:
    mismatch = first_mismatch(at_pointer(request, pointer), expected, pointer)
    if mismatch is not None:
        where, wanted, actual = mismatch
        found = "nothing" if actual is None else show(actual)
        fail(f"{where} of the request to be {show(wanted)}", found, hint=where_they_differ(wanted, actual))
