"""Second turns: the next request follows an answer with reasoning and tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Reasoning, Text
from llm_conformance.generate.blocks import BlocksGenerator
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.scenarios.round_trip import RoundTripRequirement
from llm_conformance.themes.conversation import MESSAGES, TOOLS, Conversation, answered
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

LARGE = 100_000
"""Code points of a large reasoning text."""

_SOURCE = "the provider table: what becomes of earlier reasoning"


def wants_reasoning_back(api: Api) -> bool:
    """Return True if a request with tool results must repeat the reasoning from before the calls, in a known place."""
    return (
        api.round_trip.policy in ("with tools", "required")
        and bool(api.reasoning_fields)
        and "call" in api.ids
        and GENERATORS[api.wire].sends_back_of(api)
    )


def second_turn(draw: DrawFn, api: Api, mode: Mode) -> Conversation:
    """Draw an answer with reasoning and tool calls, and the answer to the tool results."""
    generator = GENERATORS[api.wire]
    first = generator.answer(draw, api, tuple(_blocks(draw, api, mode)), mode=mode)
    sent_back = dict(generator.sent_back(first))
    results = tuple({"role": "tool", "tool_call_id": call.id, "content": "done"} for call in first.calls)
    before = answered(draw, first, mode)
    # In other themes, this model thinks between tags. Here, it has thought in a field, and does so again.
    thinks = api.think_profile(first.asked) != "off"
    thoughts = (generator.reasoning(draw, api, "β"),) if thinks else ()
    second = generator.answer(draw, api, (*thoughts, Text("a")), asked=first.asked, mode=mode)
    after = answered(draw, replace(second, is_second=True), mode)
    return replace(
        after,
        messages=(*MESSAGES, {"role": "assistant"}, *results),
        tools=TOOLS,
        params={**after.params, **before.params},
        before={len(MESSAGES): before},
        turns={len(MESSAGES): generator.turn(first)},
        expected=replace(after.expected, round_trip=_round_trip(api, first, sent_back)),
    )


def _round_trip(api: Api, first: Answer, sent_back: Mapping[str, Any]) -> RoundTripRequirement:
    traces = tuple(block.text for block in first.blocks if isinstance(block, Reasoning) and block.text)
    answer_texts = (block.text for block in first.blocks if isinstance(block, Text) and block.text)
    questions = (message["content"] for message in MESSAGES)
    visible = (*questions, *answer_texts, *("done" for _ in first.calls))
    return RoundTripRequirement(sent_back, (), traces, visible, first.tool_calls, api.hidden_fields, api.wire, _SOURCE)


def _blocks(draw: DrawFn, api: Api, mode: Mode) -> Iterator[Block]:
    generator = GENERATORS[api.wire]
    for _ in range(1 + at_most(draw, 2) if generator.seals_reasoning else 1):
        yield generator.reasoning_to_send_back(draw, api, _trace(draw, mode))
    if isinstance(generator, BlocksGenerator) and generator.redacts(api) and either(draw):
        yield generator.redacted(draw)
        yield Text("a")
    yield answers.call(draw, api, 0)
    if either(draw):
        yield answers.call(draw, api, 1)


def _trace(draw: DrawFn, mode: Mode) -> str:
    """Draw reasoning that occurs in no other text. In a plain response, it may be large."""
    large = "ξ" * LARGE if mode == "json" and at_most(draw, 4) == 4 else "ξ"
    return pick(draw, "", "\n", " ") + draw(texts.reasonings()) + large + pick(draw, "", "</think>", " ", "\n")
