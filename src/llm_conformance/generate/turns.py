"""A second turn: an answer in a conversation in which one with reasoning and tool calls stands already."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Reasoning, Text
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.generate.conversation import MESSAGES, TOOLS, Conversation, answered
from llm_conformance.generate.wires import WIRES
from llm_conformance.generate.wires.blocks import BlocksWire
from llm_conformance.pointers import placed
from llm_conformance.providers import Provider
from llm_conformance.truths import Mode
from llm_conformance.turns import Demand

LARGE = 100_000
"""Code points of a trace that is a large one."""

_SOURCE = "the provider table: what becomes of earlier reasoning"


def wants_reasoning_back(row: Provider) -> bool:
    """Whether a request that follows tool calls has to have the reasoning before them, in a place known beforehand."""
    return row.replay.policy == "with tools" and bool(row.reasoning_fields) and WIRES[row.wire].replays


def second_turn(draw: DrawFn, row: Provider, mode: Mode) -> Conversation:
    """Draw an answer with reasoning and calls, and one to the results of its tools."""
    wire = WIRES[row.wire]
    first = wire.answer(draw, row, tuple(_blocks(draw, row, mode)))
    sent = dict(wire.replayed(first))
    results = tuple({"role": "tool", "tool_call_id": call.id, "content": "done"} for call in first.calls)
    second = answered(draw, wire.answer(draw, row, (Text("a"),)), mode)
    request: Mapping[str, Any] = functools.reduce(lambda body, each: placed(body, *each), sent.items(), _asked(row))
    return replace(
        second,
        interactions={
            each: replace(told, request={**told.request, **request}) for each, told in second.interactions.items()
        },
        messages=(*MESSAGES, {"role": "assistant"}, *results),
        tools=TOOLS,
        before={len(MESSAGES): answered(draw, first, mode)},
        truth=replace(second.truth, demand=_demand(row, first, sent)),
    )


def _demand(row: Provider, first: Answer, sent: Mapping[str, Any]) -> Demand:
    traces = tuple(block.text for block in first.blocks if isinstance(block, Reasoning) and block.text)
    texts_before = (block.text for block in first.blocks if isinstance(block, Text) and block.text)
    asked = (message["content"] for message in MESSAGES)
    said = (*asked, *texts_before, *("done" for _ in first.calls))
    return Demand(sent, (), traces, said, first.tool_calls, row.hidden_fields, row.wire, _SOURCE)


def _asked(row: Provider) -> dict[str, Any]:
    return {"input" if row.wire == "responses" else "messages": list(MESSAGES)}


def _blocks(draw: DrawFn, row: Provider, mode: Mode) -> Iterator[Block]:
    in_blocks = isinstance(WIRES[row.wire], BlocksWire)
    several = in_blocks or row.wire == "responses"
    for _ in range(1 + at_most(draw, 2) if several else 1):
        yield Reasoning(_trace(draw, mode), answers.seals(draw) if several else "")
    if in_blocks and either(draw):
        yield Reasoning("", answers.seals(draw), redacted=True)
        yield Text("a")
    yield answers.call(draw, 0)
    if either(draw):
        yield answers.call(draw, 1)


def _trace(draw: DrawFn, mode: Mode) -> str:
    """Draw a trace that stands in no other text; a plain one may be large."""
    large = "ξ" * LARGE if mode == "json" and at_most(draw, 4) == 4 else "ξ"
    return pick(draw, "", "\n", " ") + draw(texts.reasonings()) + large + pick(draw, "", "</think>", " ", "\n")
