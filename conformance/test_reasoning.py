"""RSN: the visible reasoning comes back whole, unaltered and in order, with its opaque data."""

from __future__ import annotations

from llm_conformance.compare import first_difference, show
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.segments import OPAQUE_KEYS, joined, opaque_data, outline, shortened
from llm_conformance.rules.violation import Vacuous, expect_equal, expect_text, fail
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


@rule("RSN-1", harm="lost", capability="reasoning", when=_states_reasoning)
def test_reasoning_is_whole(exchange: Exchange) -> None:
    """`reasoning` is the whole visible trace, or None if there is none.

    A trace that is not in the message (MSG-1) may still be lost. A provider may send one trace under two names; it is
    still one trace. The white space of native reasoning is judged by RSN-2.

    Source: S0-04, S0-05, S1-02, S1-04, S2-13.
    """
    expected, reasoning = exchange.expected.reasoning, exchange.response.reasoning
    if exchange.expected.reasoning_source == "tag" or _without_space(reasoning) != _without_space(expected):
        expect_text("the reasoning", reasoning, expected)
    with_canary = exchange.related.with_canary()
    if with_canary is not None:
        expected, reasoning = with_canary.expected.reasoning, with_canary.response.reasoning
        if _without_space(reasoning) != _without_space(expected):
            expect_text("the reasoning, replaced by canary tokens,", reasoning, expected)


@rule("RSN-2", harm="refused next turn", capability="reasoning", when=_has_native_reasoning)
def test_native_reasoning_is_not_altered(exchange: Exchange) -> None:
    """Reasoning that the provider sends in a field of its own is not altered in any character.

    Some providers demand it back exactly as it was, leading newline and trailing space included. Only reasoning that
    was cut out of the text by tags is trimmed.

    Source: S0-41, S0-45, C-05.
    """
    reasoning = exchange.response.reasoning
    if reasoning is None:
        raise Vacuous("there is no reasoning to compare; RSN-1 reports that")
    expect_text("the reasoning", reasoning, exchange.expected.reasoning)


@rule("RSN-3", harm="wrong", capability="segments", when=_states_segments)
def test_segments_mirror_the_wire(exchange: Exchange) -> None:
    """`segments` are the answer's blocks in wire order; they join to `message` and to `reasoning`.

    Interfaces show reasoning, text and tool calls in the order in which the model produced them. There is one segment
    per block, or per contiguous run if the wire has no blocks, in however many pieces a stream comes. Hosted tools,
    unknown blocks and redacted reasoning have their place in that order.

    Source: S2-13, S4-10, S4-12.
    """
    response = exchange.response
    segments = response.segments
    message, refusal = response.message, exchange.expected.refusal
    answer = message.removesuffix(refusal) if message == exchange.expected.message + refusal else message
    expect_text("the joined text segments", joined(segments, "text"), answer)
    expect_text("the joined reasoning segments", joined(segments, "reasoning"), response.reasoning or "")
    actual, expected = outline(segments), outline(exchange.expected.segments)
    if actual != expected:
        at = first_difference(actual, expected)
        actual_rest, expected_rest = shortened(actual[at:], expected[at:])
        what = f"segments, from number {at} on," if at else "segments"
        fail(f"{what} {show(expected_rest)}", show(actual_rest), where=f"segment {at}")


@rule("RSN-4", harm="refused next turn", capability="segments", when=_has_opaque_data)
def test_opaque_data_stays_on_its_block(exchange: Exchange) -> None:
    """Signatures, redacted and encrypted blocks survive unchanged, each on the segment of its own block.

    The provider checks them when the conversation goes on. A signature that was joined with another, or moved to
    another block, makes the next request fail.

    Source: S1-12, S1-13, S4-11.
    """
    actual = [opaque_data(segment) for segment in exchange.response.segments if opaque_data(segment)[1]]
    expected = [opaque_data(segment) for segment in exchange.expected.segments if opaque_data(segment)[1]]
    at = first_difference(actual, expected)
    if actual != expected:
        expect_equal("opaque data", actual[at : at + 1], expected[at : at + 1], where=f"opaque block {at}")


def _without_space(text: str | None) -> str | None:
    return None if text is None else "".join(text.split())
