"""RPL: what a provider has said comes back to it as it wants it."""

from __future__ import annotations

from llm_conformance.conversations import objects
from llm_conformance.exchange import Exchange
from llm_conformance.judgement import fail, invariant, show
from llm_conformance.pointers import at_pointer
from llm_conformance.truths import Mode, Truth
from llm_conformance.turns import holds, leaks, uncalled, unlike, unsaid


def _follows(truth: Truth, _mode: Mode) -> bool:
    return truth.demand is not None


def _reasoned_before(truth: Truth, _mode: Mode) -> bool:
    return truth.demand is not None and bool(truth.demand.absent or truth.demand.traces)


def _has_switches(truth: Truth, _mode: Mode) -> bool:
    return bool(truth.switches)


@invariant("RPL-1", capability="replay", when=_follows, sends=True)
def test_earlier_reasoning_goes_back_exactly(exchange: Exchange) -> None:
    """Earlier reasoning goes back exactly as it came: in the provider's slot, in its order, with the tool results.

    Models go on from their own trace. Some providers refuse a request that lacks it or whose signature does not fit,
    others answer worse and say nothing (S0-41 to S0-45, S0-50). A message that stands for an earlier answer is what the
    adapter itself returned; its text and its calls of tools go back with the rest of the conversation.
    """
    demand, request = exchange.demand, exchange.request
    said, call, wrong = unsaid(demand, request), uncalled(demand, request), unlike(demand, request)
    if said is not None:
        fail(f"what was said before, in its order: {show(said)}", "it is not there")
    if call is not None:
        fail(f"the calls before, in their order: {call.name}({call.arguments})", "it is not there")
    if wrong is not None:
        fail(*wrong)
    for pointer, wanted in demand.sent.items():
        there = at_pointer(request, pointer)
        if not holds(there, wanted):
            fail(f"{pointer} of the request {show(wanted)}", "nothing" if there is None else show(there))


@invariant("RPL-2", capability="replay", when=_reasoned_before, sends=True)
def test_earlier_reasoning_stands_nowhere_else(exchange: Exchange) -> None:
    """Earlier reasoning is left out where the provider refuses it, and is never sent as visible text.

    A request with an unknown field is refused as a whole. Models that read their trace as something they have said
    begin to write such text themselves (S0-42).
    """
    demand, request = exchange.demand, exchange.request
    for pointer in demand.absent:
        there = at_pointer(request, pointer)
        if there is not None:
            fail(f"no {pointer} in the request", show(there))
    for pointer, text in leaks(demand, request):
        fail("earlier reasoning in no visible text of the request", f"{pointer}: {show(text)}")
    for message in objects(request.get("messages")) if exchange.scenario.provider.wire == "chat" else ():
        strays = [name for name in exchange.scenario.provider.reasoning_fields if message.get(name)]
        if strays and message.get("role") != "assistant":
            fail("reasoning in messages of the assistant only", f"{strays[0]} in one of {show(message.get('role'))}")


@invariant("RPL-3", capability="replay", when=_has_switches, sends=True)
def test_thinking_switches_go_out_as_asked(exchange: Exchange) -> None:
    """Thinking switches go out as asked, where the provider reads them, and what is not set stays unset.

    `clear_thinking: false` is a wish, not an empty value; a default that a library makes up is somebody's bill (S0-33
    to S0-40, C-17). Looked at are the switches that the provider table lists.
    """
    request = exchange.request
    for pointer, wanted in exchange.truth.switches.items():
        there = at_pointer(request, pointer)
        if wanted is None and there is not None:
            fail(f"no {pointer} in the request: nobody asked for it", show(there))
        if wanted is not None and not holds(there, wanted):
            fail(f"{pointer} of the request {show(wanted)}", "nothing" if there is None else show(there))
