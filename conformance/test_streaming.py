"""STR: a stream says the same as a plain answer, piece by piece, and ends exactly once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from llm_conformance import schema
from llm_conformance.compare import show, shown
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.folding import fold
from llm_conformance.rules.outcome import Returned
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import Vacuous, expect_equal, expect_text, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import COUNTS

_COMPARED = ("id", "model", "annotations", "usage", "finish_reason", "raw_finish_reason")
_CALLS_FOLD = (
    "a tool call is what events response.function_call_arguments.delta add up to: `tool_call` {index, id, name} says "
    "whose piece of the arguments `delta` is"
)
_MEDIA_FOLD = "the pieces in `attachment` {id, data, transcript} of events response.media are joined, id by id"
_TERMINAL = ("response.completed", "response.error")


def _streamed(_expected: Expected, mode: Mode) -> bool:
    return mode == "stream"


def _answered(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and expected.error is None


def _has_unknown(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and expected.unknown is not None


def _ends_in_error(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and expected.error is not None


def _shows_early(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and bool(expected.shows_early)


@rule("STR-1", capability="streaming", when=_answered)
def test_folded_deltas_are_the_response(exchange: Exchange) -> None:
    """Folding the deltas gives the completed response, and both modes give the same answer to the same content.

    Who shows deltas to a user and stores the response afterwards must not store something else. Where the JSON and the
    streamed recording hold the same content, message, reasoning, annotations, tool calls, finish and usage are equal
    (S2-20, S3-14, S4-22, S4-23). Reasoning cut out by tags may differ in outer white space.
    """
    response = exchange.response
    folded = fold(exchange.events)
    expect_text("the joined text deltas", folded.text, response.message)
    by_tag = exchange.expected.reasoning_source == "tag"
    joined, whole = folded.reasoning, response.reasoning or ""
    if by_tag:
        joined, whole = joined.strip(), whole.strip()
    expect_text("the joined reasoning deltas", joined, whole)
    calls = [(call.id, call.name, call.arguments) for call in response.tool_calls]
    made = [folded.tool_call(index) for index in sorted(folded.tool_calls)]
    expect_equal("the folded tool calls", made, calls, hint=_CALLS_FOLD)
    if folded.annotations:
        expect_equal("the annotations of events", _sorted(folded.annotations), _sorted(response.get("annotations", ())))
    for number, attachment in enumerate(response.attachments):
        if folded.media:
            data, transcript = folded.attachment(attachment.id)
            expect_equal(f"the joined data of attachment {number}", data or "", attachment.data or "", hint=_MEDIA_FOLD)
            said = attachment.transcript or ""
            expect_equal(f"the joined transcript of attachment {number}", transcript or "", said, hint=_MEDIA_FOLD)
    other = exchange.others.counterpart() if exchange.scenario.same_content else None
    if other is not None and other.outcome.response is not None and other.mode != exchange.mode:
        _expect_same(other.outcome.response, response, exchange.scenario.expected)


@rule("STR-2", capability="streaming", when=_streamed)
def test_stream_ends_exactly_once(exchange: Exchange) -> None:
    """There is exactly one terminal event, it is the last, and `response.completed` carries the whole response.

    Raising an error equals `response.error`. A stream that just stops leaves the caller with pieces and no verdict
    (S4-22, S2-26).
    """
    kinds = [event.get("event_type") for event in exchange.events]
    ends = [number for number, kind in enumerate(kinds) if kind in _TERMINAL]
    raised = exchange.outcome.raised is not None and "response.error" not in kinds
    if raised:
        expect_equal("the number of terminal events before an error was raised", len(ends), 0)
        return
    expect_equal("the number of terminal events", len(ends), 1)
    expect_equal("the position of the terminal event", ends[0], len(kinds) - 1)
    if kinds[-1] == "response.completed" and exchange.expected.error is None:
        missing = [field for field in ("message", "finish_reason", "usage") if field not in exchange.response.data]
        if missing:
            fail("the whole response in response.completed", f"one without {', '.join(missing)}")


@rule("STR-3", capability="streaming", when=_streamed)
def test_events_have_the_canonical_shape(exchange: Exchange) -> None:
    """Every event validates against schemas/stream-event.schema.json, and its type is one of the closed set.

    Consumers match on the type exhaustively; a type outside the set is one that nobody handles (S4-19 to S4-21).
    """
    if not exchange.events and not exchange.outcome.event_faults:
        raise Vacuous("there was no event; STR-2 and STR-6 judge that")
    for position, what in exchange.outcome.event_faults:
        fail("an event", what, where=f"event {position}")
    for number, event in enumerate(exchange.events):
        for where, message in schema.problems("stream-event", event):
            fail("a valid event", message, where=f"event {number} at /{'/'.join(map(str, where))}")


@rule("STR-4", capability="streaming", when=_streamed, over="cuts")
def test_cuts_change_nothing(exchange: Exchange) -> None:
    """The result is the same for every way to cut the bytes: inside a character, a tag, a JSON string, a CRLF.

    The network decides how many bytes a read gives, and it decides anew each time. A stream that comes frame by frame
    in a test comes otherwise over a slow line (S1-01, S3-14).
    """
    whole = exchange.others.uncut()
    if whole is None:
        raise Vacuous("the stream came frame by frame")
    if whole.outcome.response is None and whole.outcome.raised is None:
        raise Vacuous("frame by frame nothing comes back either; STR-2 reports that")
    if exchange.outcome.raised is not None or whole.outcome.raised is not None:
        kinds = [each.outcome.raised and each.outcome.raised.contract_type for each in (exchange, whole)]
        expect_equal("the error as frame by frame,", kinds[0], kinds[1])
        return
    here, there = exchange.response, whole.response
    expect_text("the message as frame by frame,", here.message, there.message)
    expect_text("the reasoning as frame by frame,", here.reasoning, there.reasoning)
    for what in _COMPARED:
        expect_equal(f"{what} as frame by frame,", here.get(what), there.get(what))
    expect_equal("tool calls as frame by frame,", _made(here), _made(there))
    folded, unfolded = fold(exchange.events), fold(whole.events)
    expect_text("the joined text deltas as frame by frame,", folded.text, unfolded.text)
    expect_text("the joined reasoning deltas as frame by frame,", folded.reasoning, unfolded.reasoning)


@rule("STR-5", capability="streaming", when=_has_unknown)
def test_unknown_is_never_dropped_in_silence(exchange: Exchange) -> None:
    """An event or content block of unknown type is raised, or kept visible as a segment `other`, never dropped.

    A provider that starts to send a new kind of content sends it for a reason, and an adapter that skips it returns
    half an answer that looks whole. Pings, keep-alives and unknown extra fields are no content (S4-20, C-13).
    """
    if exchange.refused_rightly:
        return
    kept = [*exchange.response.segments, *fold(exchange.events).segments]
    unknown = exchange.expected.unknown or ""
    if not any(segment.type == "other" and unknown in f"{segment.content} {segment.metadata}" for segment in kept):
        fail(f"an error, or a segment `other` that shows {unknown!r}", "neither")


@rule("STR-6", capability="streaming", when=_ends_in_error)
def test_broken_stream_is_no_success(exchange: Exchange) -> None:
    """An in-band error, or an end without finish and without end marker, is never a success.

    Half an answer that says `stop` is stored, shown and billed as a whole one (S3-32, S4-19).
    """
    completed = [event for event in exchange.events if event.get("event_type") == "response.completed"]
    if completed or exchange.outcome.raised is None:
        response = completed[-1].get("response") if completed else None
        finish = response.get("finish_reason") if isinstance(response, Mapping) else None
        actual = f"response.completed with finish_reason {show(finish)}" if completed else "an end without any error"
        fail(f"{exchange.expected.error}, raised or as response.error", actual)


@rule("STR-7", capability="streaming", when=_shows_early)
def test_deltas_arrive_as_the_bytes_arrive(exchange: Exchange) -> None:
    """Deltas arrive as the bytes arrive: there is content before the last frame of the stream is sent.

    An adapter that reads the whole answer first and cuts it up afterwards, or asks for a plain one, has the cost of
    streaming and none of its use (S2-24).
    """
    if exchange.expected.shows_early.isdisjoint({"text", *exchange.adapter.capabilities}):
        raise Vacuous("before its last frame the stream has nothing that the adapter says it can show")
    if exchange.outcome.buffered is None:
        raise Vacuous("the transport hands the stream over in one piece")
    if exchange.outcome.buffered:
        fail("a delta before the last frame was sent", "none; the adapter waited for the end of the stream")


def _expect_same(plain: Returned, streamed: Returned, expected_by_mode: Mapping[Mode, Expected]) -> None:
    """Compare the two modes; token counts only where the two recordings have the same ones."""
    expect_text("the message as in json mode,", streamed.message, plain.message)
    expect_text("the reasoning as in json mode,", streamed.reasoning, plain.reasoning)
    expect_equal(
        "annotations as in json mode,", _sorted(streamed.get("annotations", ())), _sorted(plain.get("annotations", ()))
    )
    expect_equal("finish_reason as in json mode,", streamed.get("finish_reason"), plain.get("finish_reason"))
    names = [call.name for call in plain.tool_calls]
    expect_equal("tool calls as in json mode,", [call.name for call in streamed.tool_calls], names)
    if (
        expected_by_mode["json"].usage == expected_by_mode["stream"].usage
        and plain.usage is not None
        and streamed.usage is not None
    ):
        for count in COUNTS:
            expect_equal(f"{count} as in json mode,", getattr(streamed.usage, count), getattr(plain.usage, count))


def _made(response: Returned) -> list[tuple[str, str]]:
    """Return the tool calls without their ids, which an adapter may have to make up."""
    return [(call.name, call.arguments) for call in response.tool_calls]


def _sorted(annotations: Any) -> list[Any]:
    return sorted(annotations, key=lambda each: json.dumps(each, sort_keys=True, default=shown))
