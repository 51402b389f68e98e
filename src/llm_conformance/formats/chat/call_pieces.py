"""The deltas of tool calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.chat import variations as v
from llm_conformance.formats.chat.fields import written
from llm_conformance.formats.chat.message import call_fields
from llm_conformance.generate import texts
from llm_conformance.generate.answers import Answer, Call
from llm_conformance.generate.variations import as_empty, choose
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


def call_deltas(draw: DrawFn, answer: Answer) -> Iterator[Fields]:
    """Draw the deltas of the tool calls of an answer."""
    api = answer.api
    if not answer.calls:
        return
    numbering = choose(draw, api, v.INDEX)
    calls = [
        [_number(numbering, index) | piece for piece in _pieces(draw, api, call)]
        for index, call in enumerate(answer.calls)
    ]
    order = choose(draw, api, v.ORDER) if len(calls) > 1 else "one after the other"
    longest = max(map(len, calls))
    by_turn = [[pieces[n] for pieces in calls if n < len(pieces)] for n in range(longest)]
    if order == "together" and longest == 1:  # only whole calls are known to share a delta
        yield {"tool_calls": by_turn[0]}
    else:
        pieces = by_turn if order == "interleaved" else calls
        yield from ({"tool_calls": [piece]} for each in pieces for piece in each)


def _number(way: str, index: int) -> Fields:
    number = {"from 0": index, "from 1": index + 1, "always 0": 0}
    return {"index": number[way]} if way in number else as_empty(way, "index")


def _pieces(draw: DrawFn, api: Api, call: Call) -> list[Fields]:
    typed, way = choose(draw, api, v.TYPE), choose(draw, api, v.PIECES)
    if way == "whole" or not call.arguments:
        return [call_fields(call, call.arguments, typed)]
    # At least two pieces, because a call in one piece would be a whole call.
    pieces = texts.pieces(draw, call.arguments)
    if way == "first with arguments":
        first, *rest = pieces if len(pieces) > 1 else (call.arguments[:1], call.arguments[1:])
        begun = call_fields(call, first, typed)
    else:
        rest = pieces
        begun = call_fields(call, "", typed)
        name = {"name": call.name}
        begun["function"] = name | as_empty(choose(draw, api, v.FIRST_ARGUMENTS), "arguments")
    if choose(draw, api, v.EMPTY_PIECES) == "some":
        rest = ["", *rest]
    beside = written(choose(draw, api, v.LATER_PIECES), {"id": call.id, "type": "function", "name": call.name})
    named = {"name": beside.pop("name")} if "name" in beside else {}
    return [begun, *({**beside, "function": {**named, "arguments": piece}} for piece in rest)]
