"""WIRE-27 and WIRE-28: the ids and the indexes in the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.compare import show
from llm_conformance.rules.violation import Vacuous, fail
from llm_conformance.server.apis.answer import inner, objects
from llm_conformance.server.apis.responses import LAST
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule

_APIS = ("responses",)
_KEPT = ("message", "function_call")
"""The types of items whose ids are compared. OpenRouter gives reasoning different ids in stream and response."""
_TEXT = ("response.output_text.delta", "response.output_text.done")


@rule("WIRE-27", harm="untraceable", modes=("stream",), apis=_APIS)
def ids_stay_the_same(exchange: Exchange) -> None:
    """All events of a stream have the same response `id`. In the last event, messages and calls still have their ids.

    A program keeps the id of the first event, to fetch the response later or to continue from it.

    Source: https://platform.openai.com/docs/api-reference/responses/object ("id": "Unique identifier for this
    Response"), and https://platform.openai.com/docs/api-reference/responses-streaming ("item": "The output item that
    was added").
    """
    responses = [inner(each, "response") for each in exchange.chunks if "response" in each]
    ids = list(dict.fromkeys(each["id"] for each in responses if isinstance(each.get("id"), str)))
    if len(ids) > 1:
        fail("one response id in all events", " and ".join(map(show, ids)))
    began = list(_items(inner(each, "item") for each in exchange.chunks if each.get("type") == _ADDED))
    ended = list(_items(objects(inner(exchange.chunks[-1], "response").get("output"))))
    if exchange.chunks[-1].get("type") not in LAST or len(began) != len(ended):
        return  # WIRE-6 and WIRE-23 report it
    for (kind, before), (other, after) in zip(began, ended, strict=True):
        if kind == other and isinstance(before, str) and isinstance(after, str) and before != after:
            fail(f"the id of the {kind} that was added, {show(before)}", show(after), "the last event")


_ADDED = "response.output_item.added"


def _items(items: Iterator[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield (type, id) of the items whose ids are compared."""
    yield from ((each["type"], each.get("id")) for each in items if each.get("type") in _KEPT)


@rule("WIRE-28", harm="lost", modes=("stream",), apis=_APIS)
def indexes_are_those_of_the_item(exchange: Exchange) -> None:
    """The `output_index` of an event is that of its item, and the `content_index` of a text is that of an added part.

    Clients add a delta to the item and the part at these indexes. Some raise an exception if nothing is there.

    Source: https://platform.openai.com/docs/api-reference/responses-streaming ("output_index": "The index of the output
    item that the text delta was added to", "content_index": "The index of the content part that the text delta was
    added to").
    """
    outputs: dict[Any, Any] = {}
    parts: dict[Any, list[Any]] = {}
    judged = False
    for number, event in enumerate(exchange.chunks, start=1):
        kind, index, where = event.get("type"), event.get("output_index"), f"event {number}"
        item = inner(event, "item").get("id") if "item" in event else event.get("item_id")
        if kind == _ADDED:
            outputs[item] = index
        elif item in outputs and "output_index" in event:
            judged = True
            if index != outputs[item]:
                fail(f"the output_index of the item, {show(outputs[item])}", f"{show(index)} in {kind}", where)
        if kind == "response.content_part.added":
            parts.setdefault(item, []).append(event.get("content_index"))
        elif kind in _TEXT and event.get("content_index") not in parts.get(item, [event.get("content_index")]):
            told = f"{show(event.get('content_index'))} in {kind}"
            fail(f"the content_index of a part that was added, {show(parts[item])}", told, where)
    if not judged:
        raise Vacuous("no event of an item has an output_index")
