"""RSN: the visible reasoning is kept whole, unaltered, in order, with the opaque data that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llm_conformance.compare import first_difference, show
from llm_conformance.contract import Segment
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import Vacuous, expect_equal, expect_text, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

_Outline = list[tuple[str, str | None]]

_OPAQUE = ("signature", "redacted", "encrypted")
_ORDERED = ("text", "reasoning", "tool_call", "other")


def _states_reasoning(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "reasoning" in expected.stated


def _native(expected: Expected, _mode: Mode) -> bool:
    return expected.reasoning is not None and expected.reasoning_source == "native"


def _states_segments(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "segments" in expected.stated


def _opaque(expected: Expected, _mode: Mode) -> bool:
    return any(segment.metadata.get(key) for segment in expected.segments for key in _OPAQUE)


@rule("RSN-1", capability="reasoning", when=_states_reasoning)
def test_reasoning_is_whole(exchange: Exchange) -> None:
    """`reasoning` is the whole visible trace, and None when there is none.

    Two failure modes are named in S1-04, and this is the second: the trace is lost. A provider may send one trace under
    two names; it is still one trace. White space of native reasoning is judged by RSN-2 (S0-04, S0-05, S1-02, S2-13).
    """
    expected, reasoning = exchange.expected.reasoning, exchange.response.reasoning
    if exchange.expected.reasoning_source == "tag" or _bare(reasoning) != _bare(expected):
        expect_text("the reasoning", reasoning, expected)
    swapped = exchange.others.canary()
    if swapped is not None and _bare(swapped.response.reasoning) != _bare(swapped.expected.reasoning):
        expect_text(
            "the reasoning, with canaries for its pieces,", swapped.response.reasoning, swapped.expected.reasoning
        )


@rule("RSN-2", capability="reasoning", when=_native)
def test_native_reasoning_is_not_altered(exchange: Exchange) -> None:
    """Reasoning that the provider sends in a field of its own is not altered in any character.

    Some providers demand it back exactly as it was, leading newline and trailing space included; only reasoning that
    was cut out of the text by tags is trimmed (S0-41, S0-45, C-5).
    """
    reasoning = exchange.response.reasoning
    if reasoning is None:
        raise Vacuous("there is no reasoning to compare; RSN-1 reports that")
    expect_text("the reasoning", reasoning, exchange.expected.reasoning)


@rule("RSN-3", capability="segments", when=_states_segments)
def test_segments_mirror_the_wire(exchange: Exchange) -> None:
    """`segments` are the answer's blocks in wire order; they join to `message` and to `reasoning`.

    One segment a block where the wire has blocks, else one a contiguous run, however many pieces a stream was cut into.
    Hosted tools, unknown blocks and redacted reasoning have their place in that order (S2-13, S4-10, S4-12).
    """
    response = exchange.response
    segments = response.segments
    message, refusal = response.message, exchange.expected.refusal
    answer = message.removesuffix(refusal) if message == exchange.expected.message + refusal else message
    expect_text("the joined text segments", _joined(segments, "text"), answer)
    expect_text("the joined reasoning segments", _joined(segments, "reasoning"), response.reasoning or "")
    actual, expected = _outline(segments), _outline(exchange.expected.segments)
    if actual != expected:
        at = first_difference(actual, expected)
        seen, wanted = _from_difference(actual[at:], expected[at:])
        fail(f"segments{f', from number {at} on,' if at else ''} {show(wanted)}", show(seen), where=f"segment {at}")


@rule("RSN-4", capability="segments", when=_opaque)
def test_opaque_data_stays_on_its_block(exchange: Exchange) -> None:
    """Signatures, redacted and encrypted blocks survive unchanged, each on its own block's segment.

    The provider checks them when the conversation goes on: a signature joined with another, or moved to another block,
    makes the next request fail (S1-12, S1-13, S4-11).
    """
    actual = [_seal(segment) for segment in exchange.response.segments if _seal(segment)[1]]
    expected = [_seal(segment) for segment in exchange.expected.segments if _seal(segment)[1]]
    at = first_difference(actual, expected)
    if actual != expected:
        expect_equal("opaque data", actual[at : at + 1], expected[at : at + 1], where=f"opaque block {at}")


def _bare(text: str | None) -> str | None:
    return None if text is None else "".join(text.split())


def _joined(segments: Iterable[Segment], kind: str) -> str:
    return "".join(segment.content for segment in segments if segment.type == kind)


def _outline(segments: Iterable[Segment]) -> _Outline:
    """Return types in order, with content where it is text; a block that shows and holds nothing leaves no trace."""
    return [
        (segment.type, segment.content if segment.type in ("text", "reasoning") else None)
        for segment in segments
        if segment.type in _ORDERED
        and (segment.content or segment.type not in ("text", "reasoning") or _seal(segment)[1])
    ]


def _from_difference(*outlines: _Outline) -> list[_Outline]:
    """Return two outlines that differ in their first segment, what both have at its beginning left out."""
    first = [outline[0][1] or "" for outline in outlines if outline]
    skipped = first_difference(*first) - 20 if len(first) == 2 else 0
    if skipped <= 0:
        return list(outlines)
    return [[(kind, f"...{text[skipped:]}" if text else text), *rest] for (kind, text), *rest in outlines]


def _seal(segment: Segment) -> tuple[str, Mapping[str, Any]]:
    return segment.type, {key: segment.metadata[key] for key in _OPAQUE if segment.metadata.get(key)}
