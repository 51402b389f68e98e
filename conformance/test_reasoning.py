"""RSN: the visible reasoning comes back whole, unaltered and in order, with its opaque data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.compare import first_difference, show, without_space
from llm_conformance.rules.agreement import (
    calls_are_right,
    message_is_right,
    reasoning_is_right,
    unknown_is_shown,
)
from llm_conformance.rules.exchange import Exchange, beside
from llm_conformance.rules.outcome import Returned
from llm_conformance.rules.rule import in_response, rule
from llm_conformance.rules.segments import (
    OPAQUE_KEYS,
    ORDERED,
    joined,
    joined_at,
    opaque_data,
    outline,
    part_ends,
    shortened,
)
from llm_conformance.rules.violation import Blocked, expect_equal, expect_text, fail
from llm_conformance.scenarios import canary
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode


def _states_reasoning(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "reasoning" in expected.stated


def _has_native_reasoning(expected: Expected, _mode: Mode) -> bool:
    return expected.reasoning is not None and expected.reasoning_source == "native"


def _states_segments(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "segments" in expected.stated


def _has_opaque_data(expected: Expected, _mode: Mode) -> bool:
    return any(segment.metadata.get(key) for segment in expected.segments for key in OPAQUE_KEYS)


@rule("RSN-1", harm="lost", capability="reasoning", shown=in_response("reasoning"), when=_states_reasoning)
def test_reasoning_is_whole(exchange: Exchange) -> None:
    """`reasoning` is the whole visible trace, or None if there is none.

    The reasoning that users may see is missing, cut short, repeated or made up. MSG-1 only keeps the trace out of the
    message; this rule demands that it comes back. A provider may send one trace under two names; it counts once. RSN-2
    judges the white space of native reasoning (reasoning in a field of its own).

    Source: S0-04, S0-05, S1-02, S1-04, S2-13.
    """
    expected, reasoning = exchange.expected.reasoning, exchange.response.reasoning
    if exchange.expected.reasoning_source == "tag" or _without_space(reasoning) != _without_space(expected):
        expect_text("the reasoning", reasoning, expected)
    with_canary = exchange.related.with_canary()
    if with_canary is not None:
        with beside(canary.PARTNER):
            expected, reasoning = with_canary.expected.reasoning, with_canary.response.reasoning
        if _without_space(reasoning) != _without_space(expected):
            expect_text("the reasoning, replaced by canary tokens,", reasoning, expected)


@rule(
    "RSN-2",
    harm="refused next turn",
    capability="reasoning",
    shown=in_response("reasoning"),
    when=_has_native_reasoning,
)
def test_native_reasoning_is_not_altered(exchange: Exchange) -> None:
    """If the provider sends reasoning in a field of its own, no character of its white space is altered.

    The provider may refuse the next request, because the trace in it was changed: some providers demand the leading
    newline and the trailing space back. Only reasoning between tags in the text is trimmed. RSN-1 reports other
    differences.

    Source: S0-41, S0-45, C-05.
    """
    reasoning, expected = exchange.response.reasoning, exchange.expected.reasoning
    if _without_space(reasoning) != _without_space(expected):
        raise Blocked("the reasoning differs in more than white space; RSN-1 reports that")
    expect_text("the reasoning", reasoning, expected)


@rule("RSN-3", harm="wrong", capability="segments", shown=in_response("segments"), when=_states_segments)
def test_segments_mirror_the_wire(exchange: Exchange) -> None:
    """`segments` are the answer's blocks in wire order; they join to `message` and to `reasoning`.

    Interfaces show reasoning, text and tool calls in a different order from the model's. There is one segment per
    block. If the wire has no blocks, there is one per contiguous run of text or reasoning. The number of pieces of a
    stream makes no difference. If content is a list of parts without an index (Mistral), one segment per part and one
    per run are both right. Hosted tools, unknown blocks and redacted reasoning have their place in the order.

    The segments of a type are not compared if another rule reports what is wrong with them: a wrong message, a wrong
    trace, a wrong number of tool calls, or an unknown block that a stream drops (STR-5). RSN-4 judges opaque data.

    Source: S2-13, S4-10, S4-12.
    """
    response, segments = exchange.response, exchange.response.segments
    types = _types_to_compare(exchange)
    message, refusal = response.message, exchange.expected.refusal
    answer = message.removesuffix(refusal) if message == exchange.expected.message + refusal else message
    if "text" in types:
        expect_text("the joined text segments", joined(segments, "text"), answer)
    if "reasoning" in types:
        expect_text("the joined reasoning segments", joined(segments, "reasoning"), response.reasoning or "")
    empty = _opaque(exchange.expected) == _opaque(response)
    actual, expected = (outline(each.segments, types, empty) for each in (response, exchange.expected))
    if exchange.scenario.api.content_parts:
        has_tags = exchange.expected.reasoning_source == "tag"  # offsets in the parts count the tags, too
        ends = None if has_tags else part_ends(exchange.scenario.interactions[exchange.mode])
        actual, expected = joined_at(actual, ends), joined_at(expected)
    if len(types) < len(ORDERED) and not expected:
        raise Blocked("what the segments hold is wrong by itself; the rules of its own fields report that")
    if actual != expected:
        at = first_difference(actual, expected)
        actual_rest, expected_rest = shortened(actual[at:], expected[at:])
        what = f"segments, from number {at} on," if at else "segments"
        fail(f"{what} {show(expected_rest)}", show(actual_rest), where=f"segment {at}")


@rule(
    "RSN-4",
    harm="refused next turn",
    capability="segments",
    shown=in_response("segments"),
    when=_has_opaque_data,
)
def test_opaque_data_stays_on_its_block(exchange: Exchange) -> None:
    """Signatures, redacted and encrypted blocks survive unchanged, each on the segment of its own block.

    The provider refuses the next request, because a signature is missing, joined with another one, or on another block.

    Source: S1-12, S1-13, S4-11.
    """
    actual, expected = _opaque(exchange.response), _opaque(exchange.expected)
    at = first_difference(actual, expected)
    if actual != expected:
        expect_equal("opaque data", actual[at : at + 1], expected[at : at + 1], where=f"opaque block {at}")


def _types_to_compare(exchange: Exchange) -> frozenset[str]:
    """Return the types of segments that RSN-3 compares.

    A type is left out if another rule reports what is wrong with it. Reasoning and tool calls are also left out if the
    adapter neither declares nor returns them.
    """
    declared, response = exchange.adapter.capabilities, exchange.response
    returned = {segment.type for segment in response.segments}
    comparable = {
        "text": message_is_right(exchange),
        "reasoning": reasoning_is_right(exchange) and ("reasoning" in declared or "reasoning" in returned),
        "tool_call": calls_are_right(exchange) and ("tools" in declared or "tool_call" in returned),
        "other": not (exchange.judged_as_stream and exchange.expected.unknown and not unknown_is_shown(exchange)),
    }
    return frozenset(type for type in ORDERED if comparable[type])


def _opaque(answer: Expected | Returned) -> list[tuple[str, Mapping[str, Any]]]:
    """Return (type of segment, opaque metadata) for each segment that has opaque data."""
    return [opaque_data(segment) for segment in answer.segments if opaque_data(segment)[1]]


def _without_space(text: str | None) -> str | None:
    return None if text is None else without_space(text)
