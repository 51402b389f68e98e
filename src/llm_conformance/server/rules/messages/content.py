"""SRV-35, SRV-60 and SRV-61: the input of calls, token counts and stop sequences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from llm_conformance.compare import show
from llm_conformance.rules.violation import Vacuous, fail
from llm_conformance.server.apis.answer import count, inner
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.server.rules.tools import with_calls

_APIS = ("messages",)


@rule("SRV-35", harm="wrong", modes=("stream",), apis=_APIS)
def pieces_of_inputs_can_be_joined(exchange: Exchange) -> None:
    """A call starts with an empty input, and its pieces join to one JSON object or to nothing.

    Clients join the pieces and parse them as JSON when the block ends. An input at the start would be there twice.

    Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming#input-json-delta: "the deltas are partial
    JSON strings, whereas the final tool_use.input is always an object".
    """
    (answer,) = with_calls(exchange)
    for index, call in answer.calls.items():
        start, *pieces = call.pieces
        if start.get("input") and pieces:
            fail("an empty input at the start of a call with pieces", show(start["input"]), f"block {index}")
    if answer.is_cut:
        raise Vacuous("the limit on tokens has cut the answer off")
    for index, call in answer.calls.items():
        try:
            value = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            fail("one JSON object", show(call.arguments), f"block {index}")
        if not isinstance(value, dict):
            fail("one JSON object", show(call.arguments), f"block {index}")


@rule("SRV-60", harm="wrong count", apis=_APIS)
def counts_are_of_the_whole_message(exchange: Exchange) -> None:
    """Neither a prompt nor an answer with content has 0 tokens, and the counts of a stream never fall.

    Budgets and bills are made from these counts. Those of `message_delta` are for everything sent so far, so clients
    use the last ones.

    Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming#event-types: "The token counts shown in the
    usage field of the message_delta event are cumulative". https://docs.anthropic.com/en/api/messages ("usage").
    """
    counts, answer = exchange.counts, exchange.answer
    if counts.input is None or counts.output is None:
        raise Vacuous("a count is missing; WIRE-7 or WIRE-8 reports that")
    if counts.input == 0:
        fail("a prompt of at least one token", "0 tokens")
    if counts.output == 0 and (answer.text or answer.reasoning or answer.calls):
        fail("at least one token for the answer", "output_tokens 0")
    before = 0
    for number, event in enumerate(exchange.documents, start=1):
        tokens = count(_usage_of(event), "output_tokens")
        if tokens is not None and tokens < before:
            fail(f"at least the {before} output_tokens of before", str(tokens), f"event {number}")
        before = tokens or before


def _usage_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return inner(event, "usage") or inner(inner(event, "message"), "usage")


@rule("SRV-61", harm="wrong", apis=_APIS)
def stop_sequence_is_named(exchange: Exchange) -> None:
    """The field `stop_sequence` is the sequence that ended the answer; with any other stop reason, it is null.

    A program with several stop sequences needs this field to decide how to go on.

    Source: https://docs.anthropic.com/en/api/messages ("stop_sequence": "This value will be a non-null string if one of
    your custom stop sequences was generated").
    """
    ended_by = exchange.answer.finish[-1:] == [exchange.api.stopped]
    named = _stop_sequence(exchange)
    if not ended_by and named is None:
        raise Vacuous("no stop sequence has ended the answer")
    wanted = exchange.api.stops(exchange.request) if ended_by else [None]
    if named not in wanted:
        fail(f"{' or '.join(map(show, wanted)) or 'none'} as `stop_sequence`", show(named))


def _stop_sequence(exchange: Exchange) -> Any:
    if not exchange.streamed:
        return exchange.document.get("stop_sequence")
    deltas = [inner(event, "delta") for event in exchange.chunks if event.get("type") == "message_delta"]
    return next((each["stop_sequence"] for each in deltas[::-1] if each.get("stop_sequence") is not None), None)
