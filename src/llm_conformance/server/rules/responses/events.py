"""WIRE-20 to WIRE-23: the events of a stream, and what they say together. Ids and indexes are in `places`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, Vacuous, expect_text, fail
from llm_conformance.server.apis.answer import ToolCall, inner, text_of
from llm_conformance.server.apis.responses import LAST
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule

_APIS = ("responses",)
_PIECES = {
    "response.output_text": "text",
    "response.reasoning_text": "text",
    "response.function_call_arguments": "arguments",
}
"""Maps content that deltas send to the field that has the whole content at the end."""


@rule("WIRE-20", harm="wrong", modes=("stream",), apis=_APIS)
def sequence_numbers_rise(exchange: Exchange) -> None:
    """The `sequence_number` of each event is higher than that of the event before it.

    Clients sort events by it, and continue from it after a broken connection.

    Source: https://platform.openai.com/docs/api-reference/responses-streaming ("sequence_number": "The sequence number
    of this event").
    """
    numbers = [each["sequence_number"] for each in exchange.chunks if isinstance(each.get("sequence_number"), int)]
    if not numbers:
        raise Vacuous("no event has a sequence_number; WIRE-8 reports that")
    for before, after in itertools.pairwise(numbers):
        if after <= before:
            fail(f"a sequence_number above {before}", str(after))


@rule("WIRE-21", harm="lost", modes=("stream",), apis=_APIS)
def items_are_added_and_done(exchange: Exchange) -> None:
    """A stream starts with `response.created`. Items begin with `output_item.added` and end with `output_item.done`.

    Clients add the content of events to the item that was added. If no such item exists, they fail.

    Source: https://platform.openai.com/docs/api-reference/responses-streaming ("response.created": "An event that is
    emitted when a response is created", "response.output_item.added", "response.output_item.done").
    """
    first = exchange.chunks[0].get("type")
    if first != "response.created":
        fail("response.created as the first event", show(first))
    is_open: dict[Any, bool] = {}
    for number, event in enumerate(exchange.chunks, start=1):
        kind, where = event.get("type"), f"event {number}"
        item = inner(event, "item").get("id")
        if kind == "response.output_item.added":
            is_open[item] = True
        elif kind == "response.output_item.done":
            if not is_open.get(item):
                fail("an item that was added, and is not done", f"{kind} of {show(item)}", where)
            is_open[item] = False
        elif "item_id" in event and not is_open.get(event["item_id"]):
            fail("an event of an item that was added, and is not done", f"{kind} of {show(event['item_id'])}", where)
    left = [item for item, still in is_open.items() if still]
    if left:
        fail("each item done", f"{show(left[0])} is not, in the whole stream")


@rule("WIRE-22", harm="wrong", modes=("stream",), apis=_APIS)
def what_is_done_is_what_was_sent(exchange: Exchange) -> None:
    """A `done` event has the joined text and arguments of the deltas. For a call, it repeats name and id from `added`.

    Some clients join the deltas. Other clients read the `done` events.

    Source: https://platform.openai.com/docs/api-reference/responses-streaming ("response.output_text.done": "The text
    content that is finalized", "response.function_call_arguments.done", "response.content_part.done": "The content part
    that is done", "response.output_item.done": "The output item that was marked done").
    """
    sent: dict[tuple[str, Any, Any], str] = {}
    judged = False
    for number, event in enumerate(exchange.chunks, start=1):
        where = f"event {number}"
        if event.get("type") == "response.output_item.done":
            _expect_item(exchange, inner(event, "item"), sent, where)
        elif event.get("type") == "response.content_part.done":
            _expect_part(event, sent, where)
        name, _, step = text_of(event.get("type")).rpartition(".")
        if name not in _PIECES or step not in ("delta", "done"):
            continue
        place = (name, event.get("item_id"), event.get("content_index"))
        if step == "delta":
            sent[place] = sent.get(place, "") + text_of(event.get("delta"))
        elif isinstance(event.get(_PIECES[name]), str):
            judged = True
            expect_text("the deltas joined,", event[_PIECES[name]], sent.get(place, ""), where)
    if not judged:
        raise Vacuous("the stream has neither text nor arguments that are done")


def _expect_item(
    exchange: Exchange, item: Mapping[str, Any], sent: Mapping[tuple[str, Any, Any], str], where: str
) -> None:
    """Raise a Violation unless an item that is done has the text and the arguments of its deltas.

    A call must also have the name and the `call_id` from its `output_item.added`.
    """
    (whole,) = exchange.api.plain({"output": [item]})
    for call in whole.calls.values():
        added = exchange.answer.calls.get(item.get("id"))
        if added is not None and (call.name, call.id) != (added.name, added.id):
            fail(f"the call as it was added, {show([added.name, added.id])}", show([call.name, call.id]), where)
    arguments = "".join(call.arguments for call in whole.calls.values())
    for name, found in (("response.output_text", whole.text), ("response.function_call_arguments", arguments)):
        pieces = (text for (kind, id, _), text in sent.items() if (kind, id) == (name, item.get("id")))
        expect_text("the deltas of the item, joined,", found, "".join(pieces), where)


def _expect_part(event: Mapping[str, Any], sent: Mapping[tuple[str, Any, Any], str], where: str) -> None:
    """Raise a Violation unless a part that is done has the text of its deltas."""
    part = inner(event, "part")
    name = f"response.{part.get('type')}"
    if _PIECES.get(name) == "text":
        text = sent.get((name, event.get("item_id"), event.get("content_index")), "")
        expect_text("the deltas of the part, joined,", text_of(part.get("text")), text, where)


@rule("WIRE-23", harm="wrong", modes=("stream",), apis=_APIS)
def response_at_the_end_is_what_was_sent(exchange: Exchange) -> None:
    """The response in the last event has the text and the calls of the deltas.

    Some clients show the deltas, and keep the response of the last event.

    Source: https://platform.openai.com/docs/api-reference/responses-streaming ("response.completed": "Properties of the
    completed response").
    """
    last: Mapping[str, Any] = next((each for each in exchange.chunks if each.get("type") in LAST), {})
    if not last:
        raise Blocked("the stream has no last event; WIRE-6 reports that")
    (whole,) = exchange.api.plain(inner(last, "response"))
    streamed = exchange.answer
    expect_text("the text of the deltas,", whole.text, streamed.text)
    if _calls(whole.calls) != _calls(streamed.calls):
        fail(f"the calls of the deltas, {show(_calls(streamed.calls))}", show(_calls(whole.calls)))


def _calls(calls: Mapping[Any, ToolCall]) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in calls.values()]
