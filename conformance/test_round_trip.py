"""RPL: what a provider has said comes back to it as it wants it."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.formats.turns import objects
from llm_conformance.pointers import at_pointer
from llm_conformance.rules.conversations import unlike
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.round_trip import holds, leaks, uncalled, unsaid
from llm_conformance.wire.interaction import Mode


def _follows(expected: Expected, _mode: Mode) -> bool:
    return expected.round_trip is not None


def _reasoned_before(expected: Expected, _mode: Mode) -> bool:
    return expected.round_trip is not None and bool(expected.round_trip.absent or expected.round_trip.traces)


def _has_switches(expected: Expected, _mode: Mode) -> bool:
    return bool(expected.switches)


@rule("RPL-1", capability="round_trip", when=_follows, sends=True)
def test_earlier_reasoning_goes_back_exactly(exchange: Exchange) -> None:
    """Earlier reasoning goes back exactly as it came: in the provider's slot, in its order, with the tool results.

    Models go on from their own trace. Some providers refuse a request that lacks it or whose signature does not fit,
    others answer worse and say nothing (S0-41 to S0-45, S0-50). A message that stands for an earlier answer is what the
    adapter itself returned; its text and its calls of tools go back with the rest of the conversation.
    """
    round_trip, request = exchange.round_trip, exchange.request
    said, call, wrong = unsaid(round_trip, request), uncalled(round_trip, request), unlike(round_trip, request)
    if said is not None:
        fail(f"what was said before, in its order: {show(said)}", "it is not there")
    if call is not None:
        fail(f"the calls before, in their order: {call.name}({call.arguments})", "it is not there")
    if wrong is not None:
        fail(*wrong)
    for pointer, wanted in round_trip.sent.items():
        there = at_pointer(request, pointer)
        if not holds(there, wanted):
            fail(f"{pointer} of the request {show(wanted)}", "nothing" if there is None else show(there))


@rule("RPL-2", capability="round_trip", when=_reasoned_before, sends=True)
def test_earlier_reasoning_stands_nowhere_else(exchange: Exchange) -> None:
    """Earlier reasoning is left out where the provider refuses it, and is never sent as visible text.

    A request with an unknown field is refused as a whole. Models that read their trace as something they have said
    begin to write such text themselves (S0-42).
    """
    round_trip, request = exchange.round_trip, exchange.request
    for pointer in round_trip.absent:
        there = at_pointer(request, pointer)
        if there is not None:
            fail(f"no {pointer} in the request", show(there))
    for pointer, text in leaks(round_trip, request):
        fail("earlier reasoning in no visible text of the request", f"{pointer}: {show(text)}")
    for message in objects(request.get("messages")) if exchange.scenario.api.wire == "chat" else ():
        strays = [name for name in exchange.scenario.api.reasoning_fields if message.get(name)]
        if strays and message.get("role") != "assistant":
            fail("reasoning in messages of the assistant only", f"{strays[0]} in one of {show(message.get('role'))}")


@rule("RPL-3", capability="round_trip", when=_has_switches, sends=True)
def test_thinking_switches_go_out_as_asked(exchange: Exchange) -> None:
    """Thinking switches go out as asked, where the provider reads them, and what is not set stays unset.

    `clear_thinking: false` is a wish, not an empty value; a default that a library makes up is somebody's bill (S0-33
    to S0-40, C-17). Looked at are the switches that the provider table lists.
    """
    request = exchange.request
    for pointer, wanted in exchange.expected.switches.items():
        there = at_pointer(request, pointer)
        if wanted is None and there is not None:
            fail(f"no {pointer} in the request: nobody asked for it", show(there))
        if wanted is not None and not holds(there, wanted):
            fail(f"{pointer} of the request {show(wanted)}", "nothing" if there is None else show(there))
