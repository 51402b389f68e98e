"""A second turn: an answer in a conversation in which one with reasoning and tool calls stands already."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Reasoning, Text
from llm_conformance.generate.blocks import BlocksWire
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.pointers import placed
from llm_conformance.scenarios.round_trip import RoundTripRequirement
from llm_conformance.themes.conversation import MESSAGES, TOOLS, Conversation, answered
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

LARGE = 100_000
"""Code points of a trace that is a large one."""

_SOURCE = "the provider table: what becomes of earlier reasoning"


def wants_reasoning_back(api: Api) -> bool:
    """Whether a request that follows tool calls has to have the reasoning before them, in a place known beforehand."""
    return api.round_trip.policy == "with tools" and bool(api.reasoning_fields) and GENERATORS[api.wire].sends_back


def second_turn(draw: DrawFn, api: Api, mode: Mode) -> Conversation:
    """Draw an answer with reasoning and calls, and one to the results of its tools."""
    wire = GENERATORS[api.wire]
    first = wire.answer(draw, api, tuple(_blocks(draw, api, mode)))
    sent = dict(wire.sent_back(first))
    results = tuple({"role": "tool", "tool_call_id": call.id, "content": "done"} for call in first.calls)
    second = answered(draw, wire.answer(draw, api, (Text("a"),)), mode)
    request: Mapping[str, Any] = functools.reduce(lambda body, each: placed(body, *each), sent.items(), _asked(api))
    return replace(
        second,
        interactions={
            each: replace(told, request={**told.request, **request}) for each, told in second.interactions.items()
        },
        messages=(*MESSAGES, {"role": "assistant"}, *results),
        tools=TOOLS,
        before={len(MESSAGES): answered(draw, first, mode)},
        expected=replace(second.expected, round_trip=_round_trip(api, first, sent)),
    )


def _round_trip(api: Api, first: Answer, sent: Mapping[str, Any]) -> RoundTripRequirement:
    traces = tuple(block.text for block in first.blocks if isinstance(block, Reasoning) and block.text)
    texts_before = (block.text for block in first.blocks if isinstance(block, Text) and block.text)
    asked = (message["content"] for message in MESSAGES)
    said = (*asked, *texts_before, *("done" for _ in first.calls))
    return RoundTripRequirement(sent, (), traces, said, first.tool_calls, api.hidden_fields, api.wire, _SOURCE)


def _asked(api: Api) -> dict[str, Any]:
    return {"input" if api.wire == "responses" else "messages": list(MESSAGES)}


def _blocks(draw: DrawFn, api: Api, mode: Mode) -> Iterator[Block]:
    in_blocks = isinstance(GENERATORS[api.wire], BlocksWire)
    several = in_blocks or api.wire == "responses"
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
