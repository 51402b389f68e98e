"""WIRE-14: the names of events."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import fail
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule


@rule("WIRE-14", harm="lost", modes=("stream",), apis=("messages", "responses"))
def events_are_named_by_their_type(exchange: Exchange) -> None:
    """The name of each event is the `type` in its data. In responses, events need no names.

    Some clients decide by the name how to read an event, others by the type.

    Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming#event-types: "Each server-sent event includes
    a named event type and associated JSON data. Each event uses an SSE event name (e.g. event: message_stop), and
    includes the matching event type in its data".
    https://platform.openai.com/docs/api-reference/responses-streaming.
    """
    for number, (event, document) in enumerate(zip(exchange.events, exchange.chunks, strict=False), start=1):
        if event.name == "" and exchange.api.name == "responses":
            continue
        if "type" in document and event.name != document["type"]:
            fail(f"the name {show(document['type'])}", show(event.name or None), f"event {number}")
