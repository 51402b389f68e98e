"""ANN: citations come back, all of them, with their data, on the text that they annotate."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import Vacuous, expect_equal, fail
from llm_conformance.scenarios.citations import Pair, keeps, other_unit, pair
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

_DOCUMENT_OFFSETS = ("start_char_index", "end_char_index")


def _annotated(expected: Expected, _mode: Mode) -> bool:
    return bool(expected.annotations)


def _states_annotations(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "annotations" in expected.stated


def _anchored(expected: Expected, _mode: Mode) -> bool:
    return any(annotation.start is not None for annotation in expected.annotations)


def _rebased(expected: Expected, _mode: Mode) -> bool:
    """Whether the message's offsets are other numbers than the wire's."""
    counts_bytes = expected.offset_unit == "utf-8 bytes" and not expected.message.isascii()
    return _anchored(expected, _mode) and (expected.reasoning_source == "tag" or counts_bytes)


@rule("ANN-1", capability="annotations", when=_annotated)
def test_spans_lie_in_the_message(exchange: Exchange) -> None:
    """Every span is two integers with 0 <= start <= end <= len(message), in code points of the final message.

    Spans are half-open. A citation that annotates no place in particular has neither start nor end (S2-02 to S2-04,
    U-04). A span outside the message is never clamped into it (C-18).
    """
    length = len(exchange.response.message)
    for number, annotation in enumerate(exchange.response.annotations):
        start, end = annotation.start, annotation.end
        if start is None or end is None:
            expect_equal("start and end both or neither:", (start, end), (None, None), where=f"annotation {number}")
        elif not 0 <= start <= end <= length:
            fail(f"0 <= start <= end <= {length}", show((start, end)), where=f"annotation {number}")
    for matched in pair(exchange.expected.annotations, exchange.response.annotations):
        actual = matched.actual
        # An empty span marks nothing, and says as little as none.
        if actual is not None and matched.expected.start is None and actual.start != actual.end:
            fail("neither start nor end", show((actual.start, actual.end)), where=matched.place)


@rule("ANN-2", capability="annotations", when=_anchored)
def test_spans_cut_out_the_annotated_text(exchange: Exchange) -> None:
    """`message[start:end]` is the annotated text.

    This is what a user sees underlined. The message of a failure says so where the span would be right in another unit:
    UTF-16 code units, bytes, or the cited document (S2-05 to S2-08).
    """
    for matched in _anchored_pairs(exchange):
        _expect_span(exchange, matched)


@rule("ANN-3", capability="annotations", when=_annotated)
def test_source_data_is_kept(exchange: Exchange) -> None:
    """The source's own data is kept under its own names, and offsets into a document stay offsets into the document.

    More keys are welcome, within objects too; changed ones are not. A citation says where the cited words stand in the
    source; where they are cited in the answer is another matter
    (S2-03, S2-09, S2-11).
    """
    for matched in pair(exchange.expected.annotations, exchange.response.annotations):
        if matched.actual is None:
            continue
        for key, value in matched.expected.data.items():
            given = matched.actual.data.get(key)
            if not keeps(given, value):
                fail(f"data.{key} {show(value)}", show(given), where=matched.place)
        document = tuple(matched.expected.data.get(key) for key in _DOCUMENT_OFFSETS)
        span = (matched.actual.start, matched.actual.end)
        if None not in document and span == document and span != (matched.expected.start, matched.expected.end):
            fail("a span of the message", f"{show(span)}, the offsets into the document", where=matched.place)


@rule("ANN-4", capability="annotations", when=_states_annotations)
def test_no_annotation_is_lost_or_repeated(exchange: Exchange) -> None:
    """No annotation is dropped, repeated or invented; late ones count, and so do identical and overlapping ones.

    In streams citations come before their text, after it or at the very end; an empty list makes no annotation
    (S2-20, S2-21, S2-27, S2-35).
    """
    actual, expected = exchange.response.annotations, exchange.expected.annotations
    expect_equal("the number of annotations", len(actual), len(expected))
    for matched in pair(expected, actual):
        if matched.actual is None:
            fail(f"an annotation with {show(matched.expected.data)}", "none", where=matched.place)


@rule("ANN-5", capability="annotations", when=_rebased)
def test_spans_are_rebased(exchange: Exchange) -> None:
    """Spans are re-based when a think prefix was removed, and converted when the provider counts another unit.

    A provider's offsets count in the text as it was sent. A gateway that removes the reasoning from its front moves
    every character that an offset points to (C-19).
    """
    for matched in _anchored_pairs(exchange):
        _expect_span(exchange, matched)


def _anchored_pairs(exchange: Exchange) -> list[Pair]:
    anchored = [
        matched
        for matched in pair(exchange.expected.annotations, exchange.response.annotations)
        if matched.actual is not None and matched.expected.start is not None
    ]
    if not anchored:
        raise Vacuous("no annotation that has a place came back; ANN-4 reports that")
    return anchored


def _expect_span(exchange: Exchange, matched: Pair) -> None:
    expected, actual = matched.expected, matched.actual
    if actual is None or (expected.may_be_unanchored and actual.start is None):
        return
    if actual.start is None:
        fail(f"the span {show((expected.start, expected.end))}", "none", where=matched.place)
    text = exchange.response.message[actual.start : actual.end]
    # The same words may stand elsewhere too; only in another message than the true one may the place differ.
    elsewhere = exchange.response.message == exchange.expected.message and actual.start != expected.start
    if text != expected.text or elsewhere:
        fail(
            f"{show(expected.text)} at {show((expected.start, expected.end))}",
            f"{show(text)} at {show((actual.start, actual.end))}",
            where=matched.place,
            hint=other_unit(exchange.expected.message, expected, actual),
        )
