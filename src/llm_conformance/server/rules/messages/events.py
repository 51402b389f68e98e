"""WIRE-15 to WIRE-18: the events of a stream, and their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.compare import show
from llm_conformance.rules.violation import fail
from llm_conformance.server.apis.answer import inner
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule

_APIS = ("messages",)
_BLOCKS = ("content_block_start", "content_block_delta", "content_block_stop")
_KNOWN = ("message_start", *_BLOCKS, "message_delta", "message_stop")
_DELTAS = {"text_delta": "text", "citations_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking"}
"""Maps the type of a delta to the type of its block. Deltas of inputs are left out, because several types have them."""


def _known(exchange: Exchange) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield (place, type, document) of each event, except pings and events of undocumented types."""
    for number, event in enumerate(exchange.chunks, start=1):
        if event.get("type") in _KNOWN:
            yield f"event {number}", event["type"], event


@rule("WIRE-15", harm="lost", modes=("stream",), apis=_APIS)
def events_come_in_order(exchange: Exchange) -> None:
    """A stream is `message_start` once, blocks, `message_delta` at least once, and `message_stop`; pings come anywhere.

    Clients create the message at its start and add to it. An event before its start or after its end is an error.

    Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming#event-types.
    """
    found = list(_known(exchange))
    kinds = [kind for _, kind, _ in found]
    if kinds[:1] != ["message_start"]:
        fail("message_start as the first event", show(kinds[:1]))
    if "message_delta" not in kinds:
        fail("a message_delta behind the blocks", "none")
    ended = kinds.index("message_delta")
    for number, (where, kind, _) in enumerate(found):
        if kind == "message_start" and number:
            fail("one message_start", "another", where)
        if kind in _BLOCKS and number > ended:
            fail("no block behind message_delta", show(kind), where)


@rule("WIRE-16", harm="lost", modes=("stream",), apis=_APIS)
def blocks_are_begun_and_ended(exchange: Exchange) -> None:
    """Each block starts, gets its deltas and stops before the next one starts; the indexes are 0, 1, ...

    Clients add a delta to the block with its index. The index is that of the block in the message.

    Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming#event-types: "each content block has an index
    that corresponds to its index in the final Message content array".
    """
    begun, is_open = -1, False
    for where, kind, event in _known(exchange):
        if kind not in _BLOCKS:
            continue
        index = event.get("index")
        if kind == "content_block_start":
            if is_open:
                fail(f"the end of block {begun}", f"the start of block {show(index)}", where)
            begun, is_open = begun + 1, True
        elif not is_open:
            fail("an open block", f"{kind} of block {show(index)}, and none is open", where)
        if index != begun:
            fail(f"index {begun}", show(index), where)
        if kind == "content_block_stop":
            is_open = False
    if is_open:
        fail(f"the end of block {begun}", "none in the whole stream")


@rule("WIRE-17", harm="lost", modes=("stream",), apis=_APIS)
def deltas_fit_their_blocks(exchange: Exchange) -> None:
    """A text block gets text deltas, a thinking block gets thinking deltas, and a call gets deltas of its input.

    Clients add a delta to the field that the delta's type names. A block of another type does not have that field.

    Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming#content-block-delta-types.
    """
    types: dict[Any, Any] = {}
    for where, kind, event in _known(exchange):
        if kind == "content_block_start":
            types[event.get("index")] = inner(event, "content_block").get("type")
        elif kind == "content_block_delta" and event.get("index") in types:
            delta, block = inner(event, "delta").get("type"), types[event["index"]]
            is_input = delta == "input_json_delta" and block in ("text", "thinking")
            if is_input or _DELTAS.get(str(delta), block) != block:
                fail(f"a delta for a block of type {show(block)}", show(delta), where)


@rule("WIRE-18", harm="false success", modes=("stream",), apis=_APIS)
def stop_reason_comes_at_the_end(exchange: Exchange) -> None:
    """`message_start` has no content and no stop reason yet, and one `message_delta` has the stop reason.

    Without the stop reason, a client cannot tell why the answer ended. Content at the start would be there twice after
    the deltas are added.

    Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming#event-types ("message_start: contains a
    Message object with empty content"), and https://docs.anthropic.com/en/api/messages ("stop_reason": "In streaming
    mode, it is null in the message_start event and non-null otherwise").
    """
    for where, kind, event in _known(exchange):
        if kind == "message_start":
            message = inner(event, "message")
            if message.get("content"):
                fail("an empty content at the start", show(message["content"]), where)
            if message.get("stop_reason") is not None:
                fail("no stop reason at the start", show(message["stop_reason"]), where)
    found = exchange.answer.finish
    if not found:
        fail("a stop reason", "none in the whole stream")
    if len(found) > 1:
        fail("one stop reason", show(found))
