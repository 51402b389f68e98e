"""STR: a stream gives the same answer as a plain response, piece by piece, and ends exactly once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from llm_conformance.compare import as_json, show, shown
from llm_conformance.rules import shapes
from llm_conformance.rules.agreement import calls_are_right, message_is_right, unknown_is_shown
from llm_conformance.rules.exchange import Exchange, beside
from llm_conformance.rules.folding import fold, kinds_shown
from llm_conformance.rules.outcome import Returned
from llm_conformance.rules.rule import in_events, rule
from llm_conformance.rules.violation import Blocked, Vacuous, expect_equal, expect_text, fail
from llm_conformance.scenarios.citations import pair
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api

_SAME_FOR_ALL_CUTS = ("model", "annotations", "usage", "finish_reason", "raw_finish_reason")
_SAME_IN_BOTH_MODES = ("message", "tool_calls", "finish_reason", "annotations")
_WHOLE_FRAMES = "the same stream in whole frames"
_PLAIN = "the plain response with the same content"
_TERMINAL = ("response.completed", "response.error")
_HOW_CALLS_FOLD = (
    "the `delta`s of response.function_call_arguments.delta events are joined, call by call; `tool_call` "
    "{index, id, name} names the call"
)
_HOW_MEDIA_FOLD = "the pieces in `attachment` {id, data, transcript} of response.media events are joined, id by id"


def _is_stream(_expected: Expected, mode: Mode) -> bool:
    return mode == "stream"


def _is_answer(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and expected.error is None


def _has_unknown(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and expected.unknown is not None


def _fails_within(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and expected.error is not None and expected.fault != "incomplete"


def _is_incomplete(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and expected.fault == "incomplete"


def _hides_the_end(exchange: Exchange) -> bool:
    """Return True if callers cannot see in the answer that it is not whole."""
    completed, response = _completed(exchange), exchange.outcome.response
    if completed is None:
        return False
    is_invalid = response is None or bool(response.problems)
    return is_invalid or _finish_reason(completed) not in (None, "error") or _made_up(exchange) is not None


def _has_early_content(expected: Expected, mode: Mode) -> bool:
    return mode == "stream" and bool(expected.shows_early)


@rule("STR-1", harm="wrong", capability="streaming", shown=in_events, when=_is_answer)
def test_folded_deltas_are_the_response(exchange: Exchange) -> None:
    """Folding the deltas of a stream gives the response of its end.

    Users read one thing while it streams, and the application stores another. The rule compares text, reasoning, tool
    calls, annotations and media. Reasoning between tags in the text may differ in leading and trailing white space.
    Arguments are compared as JSON; TOOL-1 judges their exact text. If something is missing in the deltas and in the
    response, the rule about its field reports this.

    Source: S2-20, S3-14, S4-22, S4-23.
    """
    response = exchange.response
    folded = fold(exchange.events)
    expect_text("the joined text deltas", folded.text, response.message)
    folded_reasoning, reasoning = folded.reasoning, response.reasoning or ""
    if exchange.expected.reasoning_source == "tag":
        folded_reasoning, reasoning = folded_reasoning.strip(), reasoning.strip()
    expect_text("the joined reasoning deltas", folded_reasoning, reasoning)
    calls = [(call.id, call.name, as_json(call.arguments)) for call in response.tool_calls]
    joined = (folded.tool_call(index) for index in sorted(folded.tool_calls))
    folded_calls = [(id, name, as_json(arguments)) for id, name, arguments in joined]
    expect_equal("the folded tool calls", folded_calls, calls, hint=_HOW_CALLS_FOLD)
    if folded.annotations:
        expect_equal("the annotations of events", _sorted(folded.annotations), _sorted(response.get("annotations", ())))
    for number, attachment in enumerate(response.attachments if folded.media else ()):
        data, transcript = (part or "" for part in folded.attachment(attachment.id))
        which = f"of attachment {number}"
        expect_equal(f"the joined data {which}", data, attachment.data or "", hint=_HOW_MEDIA_FOLD)
        expect_equal(f"the joined transcript {which}", transcript, attachment.transcript or "", hint=_HOW_MEDIA_FOLD)


@rule("STR-2", harm="lost", capability="streaming", shown=in_events, when=_is_stream)
def test_stream_ends_exactly_once(exchange: Exchange) -> None:
    """There is exactly one terminal event, and it is the last.

    The caller of a stream cannot know whether the answer is complete. Raising an error is equivalent to sending
    `response.error`. If the provider's stream fails or ends too early, but the adapter's stream ends without an error,
    STR-6 or STR-9 reports this.

    Source: S4-22, S2-26.
    """
    kinds = [event.get("event_type") for event in exchange.events]
    terminal = [number for number, kind in enumerate(kinds) if kind in _TERMINAL]
    raised = exchange.outcome.raised is not None and "response.error" not in kinds
    if raised and not terminal:
        return
    if exchange.outcome.fault is not None:
        raise Blocked(f"the call failed: {exchange.outcome.fault}")
    if exchange.callers_notice_the_end and not terminal:
        raise Vacuous("the stream ended too early, and callers notice that no terminal event came")
    if exchange.expected.error is not None and not terminal:
        raise Blocked("the stream ended without any error; STR-6 or STR-9 reports that")
    if raised:
        expect_equal("the number of terminal events before an error was raised", len(terminal), 0)
    expect_equal("the number of terminal events", len(terminal), 1)
    expect_equal("the position of the terminal event", terminal[0], len(kinds) - 1)


@rule("STR-3", harm="wrong", capability="streaming", shown=in_events, when=_is_stream)
def test_events_have_the_canonical_shape(exchange: Exchange) -> None:
    """Every event validates against schemas/stream-event.schema.json, and its type is one of the closed set.

    Callers fail at an event or skip it: they handle only the types of the set.

    Source: S4-19, S4-20, S4-21.
    """
    if not exchange.events and not exchange.outcome.invalid_events:
        raise Vacuous("there was no event; STR-2, STR-6 and STR-9 judge that")
    for position, description in exchange.outcome.invalid_events:
        fail("an event", description, where=f"event {position}")
    for number, event in enumerate(exchange.events):
        for where, message in shapes.problems("stream-event", event):
            fail("a valid event", message, where=f"event {number} at /{'/'.join(map(str, where))}")


@rule("STR-4", harm="wrong", capability="streaming", shown=in_events, when=_is_stream, vary_cuts=True)
def test_cuts_change_nothing(exchange: Exchange) -> None:
    """The result is the same wherever the bytes are cut: inside a character, a tag, a JSON string, a CRLF.

    The same stream gives a different answer over a different network. The network decides how many bytes each read
    returns: a stream that comes frame by frame in a test comes in other pieces over a slow line.

    Source: S1-01, S3-14.
    """
    whole_frames = exchange.related.whole_frames()
    if whole_frames is None:
        raise Vacuous("the stream was not cut within frames")
    if whole_frames.outcome.raised is None or whole_frames.outcome.fault is not None:
        with beside(_WHOLE_FRAMES):
            whole_frames.response  # noqa: B018 - only to see whether it is there
    exchange.expect_no_fault("the answer as for whole frames")
    if exchange.outcome.raised is not None or whole_frames.outcome.raised is not None:
        actual, expected = (
            each.outcome.raised and each.outcome.raised.contract_type for each in (exchange, whole_frames)
        )
        expect_equal("the error as for whole frames,", actual, expected)
        return
    response, uncut_response = exchange.response, whole_frames.response
    expect_text("the message as for whole frames,", response.message, uncut_response.message)
    expect_text("the reasoning as for whole frames,", response.reasoning, uncut_response.reasoning)
    # An id that the adapter makes up is new in each answer, wherever the bytes are cut. PRV-1 reports made-up ids.
    fields = ("id", *_SAME_FOR_ALL_CUTS) if uncut_response.get("id") in exchange.expected.ids else _SAME_FOR_ALL_CUTS
    for field in fields:
        expect_equal(f"{field} as for whole frames,", response.get(field), uncut_response.get(field))
    expect_equal("tool calls as for whole frames,", _without_ids(response), _without_ids(uncut_response))
    folded, uncut_folded = fold(exchange.events), fold(whole_frames.events)
    expect_text("the joined text deltas as for whole frames,", folded.text, uncut_folded.text)
    expect_text("the joined reasoning deltas as for whole frames,", folded.reasoning, uncut_folded.reasoning)


@rule("STR-5", harm="lost", capability="streaming", shown=in_events, when=_has_unknown)
def test_unknown_content_is_never_dropped_silently(exchange: Exchange) -> None:
    """An event or content block of unknown type raises an error or becomes a segment `other`; it is never dropped.

    Users get an incomplete answer that looks complete. Pings, keep-alives and unknown extra fields are not content.

    Source: S4-20, C-13.
    """
    if exchange.raised_allowed_error:
        return
    if not unknown_is_shown(exchange):
        fail(f"an error, or a segment `other` that shows {exchange.expected.unknown!r}", "neither")


@rule("STR-6", harm="false success", capability="streaming", shown=in_events, when=_fails_within)
def test_failed_stream_is_no_success(exchange: Exchange) -> None:
    """An error inside a stream, a lost connection or an unreadable frame is never a success.

    What came before the failure, if anything, is stored, shown and billed as a whole answer. ERR-1, ERR-2 and ERR-3
    judge the class of a raised error. STR-2 reports a stream that has both an error and `response.completed`.

    Source: S3-32, S4-19.
    """
    _expect_an_error(exchange)


@rule("STR-7", harm="late", capability="streaming", when=_has_early_content)
def test_deltas_arrive_as_the_bytes_arrive(exchange: Exchange) -> None:
    """Deltas arrive as the bytes arrive: there is content before the last frame of the stream is sent.

    Users wait for the whole answer before they read its first word. Some adapters read the whole answer before they
    yield its first piece, or request a plain answer and cut that up. If content does not come at all, STR-1 and the
    rules about the content report this.

    Source: S2-24.
    """
    if exchange.outcome.fault is not None:
        raise Blocked(f"the call failed: {exchange.outcome.fault}")
    if exchange.expected.shows_early.isdisjoint({"text", *exchange.adapter.capabilities}):
        raise Vacuous("nothing before the last frame is of a kind that the adapter declares")
    if exchange.expected.early_kinds.isdisjoint(kinds_shown(exchange.events)):
        raise Vacuous("the adapter shows nothing of what comes before the last frame; other rules judge what is lost")
    if exchange.outcome.buffered is None:
        raise Vacuous("the transport hands over the stream in one piece")
    if exchange.outcome.buffered:
        fail("a delta before the last frame was sent", "none; the adapter waited for the end of the stream")


@rule("STR-8", harm="wrong", capability="streaming", shown=in_events, when=_is_answer)
def test_both_modes_give_the_same_answer(exchange: Exchange) -> None:
    """If several answers are right, a stream gives the same one as a plain response with the same content.

    The caller gets a different answer when it switches to streaming. Some recordings leave a choice: a refusal in the
    message or in a segment of its own, `tool_calls` or `stop` for a call, a citation with or without a place. Both
    modes make the same choice. If the answer of one mode is wrong, the rule about the wrong field reports this.

    Source: S2-21, S4-24.
    """
    plain = exchange.related.other_mode() if exchange.scenario.same_content else None
    if plain is None or plain.mode == exchange.mode:
        raise Vacuous("there is no plain response with the same content")
    streamed = exchange.response
    with beside(_PLAIN):
        other = plain.response
        for field in _SAME_IN_BOTH_MODES:
            other.get(field)  # blocks the rule if it cannot be read
    if message_is_right(exchange) and message_is_right(plain):
        expect_text("the message as in json mode,", streamed.message, other.message)
    if calls_are_right(exchange) and calls_are_right(plain):
        names, plain_names = ([call.name for call in each.tool_calls] for each in (streamed, other))
        expect_equal("tool calls as in json mode,", names, plain_names)
    finish, plain_finish = (each.get("finish_reason") for each in (streamed, other))
    if finish in exchange.expected.finish_reasons and plain_finish in plain.expected.finish_reasons:
        expect_equal("finish_reason as in json mode,", finish, plain_finish)
    places, plain_places = (_places(each) for each in (exchange, plain))
    if places is not None and plain_places is not None:
        expect_equal("the spans of annotations as in json mode,", places, plain_places)


@rule("STR-9", harm="false success", capability="incomplete_streams", shown=_hides_the_end, when=_is_incomplete)
def test_incomplete_stream_is_no_success(exchange: Exchange) -> None:
    """A stream that ends before the answer does is never a success.

    What came is stored, shown and billed as a whole answer. Such a stream has neither a finish reason nor an end
    marker, or it is no stream at all: a page of HTML, or nothing. An adapter without the capability may leave
    it to its callers to notice that there is no finish reason, but must not make up a finish reason or content. ERR-2
    judges the class of a raised error.

    Source: S3-32, S4-19.
    """
    made_up = _made_up(exchange)
    if made_up is not None:
        fail("no content, as the provider has sent none", show(made_up))
    _expect_an_error(exchange)


def _expect_an_error(exchange: Exchange) -> None:
    if exchange.outcome.fault is not None:
        raise Blocked(f"the call failed: {exchange.outcome.fault}")
    if exchange.outcome.raised is not None:
        return
    completed = _completed(exchange)
    fail(
        f"{exchange.expected.error}, raised or as response.error",
        "an end without any error"
        if completed is None
        else f"response.completed with finish_reason {show(_finish_reason(completed))}",
    )


def _made_up(exchange: Exchange) -> Any:
    """Return the message or the tool calls of an answer to a stream without any content; None if there are none."""
    response, interaction = exchange.outcome.response, exchange.scenario.interactions[exchange.mode]
    if response is None or _may_have_content(interaction, exchange.scenario.api):
        return None
    return response.data.get("message") or response.data.get("tool_calls") or None


def _may_have_content(interaction: Interaction, api: Api) -> bool:
    """Return False for a body that certainly has no content, such as a page of HTML or the beginning of a stream."""
    sent = answers.derive_if_readable(interaction, api)
    if sent is None:
        return interaction.streamed
    return any((sent.text, sent.reasoning, sent.refusal, sent.tool_calls, sent.media, sent.asks, sent.found))


def _completed(exchange: Exchange) -> Mapping[str, Any] | None:
    """Return the last `response.completed`; None if there is none."""
    return next((each for each in reversed(exchange.events) if each.get("event_type") == "response.completed"), None)


def _finish_reason(completed: Mapping[str, Any]) -> Any:
    response = completed.get("response")
    return response.get("finish_reason") if isinstance(response, Mapping) else None


def _places(exchange: Exchange) -> list[tuple[int | None, int | None]] | None:
    """Return (start, end) of each annotation, in order; None if one is missing, wrong or too many."""
    expected, actual = exchange.expected.annotations, exchange.response.annotations
    places = []
    for matched in pair(expected, actual):
        if matched.actual is None:
            return None
        span = (matched.actual.start, matched.actual.end)
        allowed = [(matched.expected.start, matched.expected.end)]
        if span not in [*allowed, *([(None, None)] if matched.expected.may_be_unanchored else [])]:
            return None
        places.append(span)
    return places if len(expected) == len(actual) else None


def _without_ids(response: Returned) -> list[tuple[str, str]]:
    """Return the tool calls without their ids, which an adapter may have to make up."""
    return [(call.name, call.arguments) for call in response.tool_calls]


def _sorted(annotations: Any) -> list[Any]:
    return sorted(annotations, key=lambda each: json.dumps(each, sort_keys=True, default=shown))
