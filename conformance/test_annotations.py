"""ANN: every citation comes back once, with its data, on the text that it annotates."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.contract import Annotation
from llm_conformance.rules.agreement import expect_right_message
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import in_response, rule
from llm_conformance.rules.violation import Blocked, expect_equal, fail
from llm_conformance.scenarios.citations import Pair, keeps, other_unit, pair
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

_SHOWN = in_response("annotations")


def _has_annotations(expected: Expected, _mode: Mode) -> bool:
    return bool(expected.annotations)


def _states_annotations(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "annotations" in expected.stated


def _has_spans_as_sent(expected: Expected, mode: Mode) -> bool:
    return _has_spans(expected) and not _has_converted_spans(expected, mode)


def _has_converted_spans(expected: Expected, _mode: Mode) -> bool:
    """Return True if the offsets in the message differ from those on the wire."""
    counts_bytes = expected.offset_unit == "utf-8 bytes" and not expected.message.isascii()
    return _has_spans(expected) and (expected.reasoning_source == "tag" or counts_bytes)


def _has_spans(expected: Expected) -> bool:
    return any(annotation.start is not None for annotation in expected.annotations)


@rule("ANN-1", harm="wrong", capability="annotations", shown=_SHOWN, when=_has_annotations)
def test_spans_are_in_the_message(exchange: Exchange) -> None:
    """Every span is two integers with 0 <= start <= end <= len(message), in code points of the final message.

    Readers see marked text that has no source, or the program fails because an offset is after the end. Spans are
    half-open: `message[start:end]`. A citation without a place in the text has neither start nor end. An adapter must
    not clamp a span that is outside the message.

    Source: S2-02, S2-03, S2-04, U-04, C-18.
    """
    expect_right_message(exchange, "spans")
    length = len(exchange.response.message)
    for number, annotation in enumerate(exchange.response.annotations):
        start, end = annotation.start, annotation.end
        if start is None or end is None:
            if start != end:
                fail("both start and end, or neither", show((start, end)), where=f"annotation {number}")
        elif not 0 <= start <= end <= length:
            fail(f"0 <= start <= end <= {length}", show((start, end)), where=f"annotation {number}")
    for matched in pair(exchange.expected.annotations, exchange.response.annotations):
        actual = matched.actual
        # An empty span marks no text, so it counts as no span.
        if actual is not None and matched.expected.start is None and actual.start != actual.end:
            fail("neither start nor end", show((actual.start, actual.end)), where=matched.place)


@rule("ANN-2", harm="wrong", capability="annotations", shown=_SHOWN, when=_has_spans_as_sent)
def test_spans_cover_the_annotated_text(exchange: Exchange) -> None:
    """`message[start:end]` is the annotated text.

    Readers see the wrong words underlined. If the span would be right in another unit (UTF-16 code units, UTF-8 bytes,
    offsets into the cited document), the failure says so. ANN-5 judges offsets that have to be converted, and ANN-1
    judges spans outside the message.

    Source: S2-05, S2-06, S2-07, S2-08.
    """
    _expect_spans(exchange)


@rule("ANN-3", harm="wrong", capability="annotations", shown=_SHOWN, when=_has_annotations)
def test_source_data_is_kept(exchange: Exchange) -> None:
    """A citation's data keeps the provider's names and values.

    Links to sources are wrong or incomplete, because applications make them from this data. Extra keys are allowed,
    also in nested objects; changed values are not. If the provider says where in the source the quoted words are, the
    data says so, too.

    Source: S2-03, S2-09, S2-11.
    """
    matches = [each for each in pair(exchange.expected.annotations, exchange.response.annotations) if each.actual]
    if not matches:
        raise Blocked("no annotation came back; ANN-4 reports that")
    for matched in matches:
        for key, value in matched.expected.data.items():
            actual_value = matched.actual.data.get(key) if matched.actual else None
            if not keeps(actual_value, value):
                fail(f"data.{key} {show(value)}", show(actual_value), where=matched.place)


@rule("ANN-4", harm="lost", capability="annotations", shown=_SHOWN, when=_states_annotations)
def test_no_annotation_is_lost_or_repeated(exchange: Exchange) -> None:
    """No annotation is dropped, repeated or invented.

    Readers cannot tell where a statement comes from, or they see a source twice. A stream may send a citation before
    its text, after its text or at the very end. Late, identical and overlapping citations count, too. An empty list of
    citations gives no annotation. Nor does audio or reasoning in the answer.

    Source: S2-20, S2-21, S2-27, S2-35.
    """
    actual, expected = exchange.response.annotations, exchange.expected.annotations
    expect_equal("the number of annotations", len(actual), len(expected))
    for matched in pair(expected, actual):
        if matched.actual is None:
            fail(f"an annotation with {show(matched.expected.data)}", "none", where=matched.place)


@rule("ANN-5", harm="wrong", capability="annotations", shown=_SHOWN, when=_has_converted_spans)
def test_spans_are_converted(exchange: Exchange) -> None:
    """If reasoning before the text is removed, offsets are shifted. If they are in another unit, they are converted.

    Every citation marks the wrong words. A provider's offsets refer to the text as it was sent. If the reasoning at its
    beginning is removed, every character moves. ANN-2 judges offsets that need no conversion.

    Source: C-19.
    """
    _expect_spans(exchange)


def _expect_spans(exchange: Exchange) -> None:
    """Check the spans of citations with a place in the message, except spans that ANN-1 or ANN-4 reports."""
    length = len(exchange.response.message)
    pairs = [
        matched
        for matched in pair(exchange.expected.annotations, exchange.response.annotations)
        if matched.actual is not None and matched.expected.start is not None and _is_inside(matched.actual, length)
    ]
    if not pairs:
        raise Blocked("no annotation with a place in the message came back; ANN-4 or ANN-1 report that")
    for matched in pairs:
        _expect_span(exchange, matched)


def _is_inside(annotation: Annotation, length: int) -> bool:
    """Return True if the span is in the message, or both ends are missing."""
    start, end = annotation.start, annotation.end
    return start is end is None if start is None or end is None else 0 <= start <= end <= length


def _expect_span(exchange: Exchange, matched: Pair) -> None:
    expected, actual = matched.expected, matched.actual
    if actual is None or (expected.may_be_unanchored and actual.start is None):
        return
    if actual.start is None:
        expect_right_message(exchange, "spans")
        fail(f"the span {show((expected.start, expected.end))}", "none", where=matched.place)
    text = exchange.response.message[actual.start : actual.end]
    # The cited words may occur twice in the message. Offsets are only comparable if the message is the expected one.
    wrong_place = exchange.response.message == exchange.expected.message and actual.start != expected.start
    if text != expected.text or wrong_place:
        expect_right_message(exchange, "spans")
        fail(
            f"{show(expected.text)} at {show((expected.start, expected.end))}",
            f"{show(text)} at {show((actual.start, actual.end))}",
            where=matched.place,
            hint=other_unit(exchange.expected.message, expected, actual),
        )
