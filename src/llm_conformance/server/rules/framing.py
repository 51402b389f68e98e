"""WIRE-1 to WIRE-6, and WIRE-29: the answer as HTTP and as text, before its content is read."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, Vacuous, expect_equal, fail
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.framings.server_sent_events import foreign_lines
from llm_conformance.server.recordings import ENCODING
from llm_conformance.server.rule import rule
from llm_conformance.wire.framings.base import DONE, json_value


@rule("WIRE-1", harm="lost")
def is_answered(exchange: Exchange) -> None:
    """A request that the format allows and that needs only claimed capabilities is answered with status 200.

    Otherwise a correct program does not work with this server.

    Source: https://platform.openai.com/docs/api-reference/chat/create; https://docs.anthropic.com/en/api/messages;
    https://platform.openai.com/docs/api-reference/responses/create; https://docs.ollama.com/api/chat.
    """
    recording = exchange.recording
    if recording.status == 0 and exchange.is_late:
        raise Blocked(f"no answer came within {recording.milliseconds} ms, the time limit")
    if recording.status != 200:
        got = recording.ended if recording.status == 0 else f"status {recording.status}"
        fail("status 200", got, hint=_start_of(recording.body))


@rule("WIRE-2", harm="lost", of="all")
def is_complete(exchange: Exchange) -> None:
    """The body of an answer is complete: the connection does not break.

    A broken connection is an error in every client, even if the whole text has arrived.

    Source: https://www.rfc-editor.org/rfc/rfc9112#section-8, and #section-7.1 for the last chunk.
    """
    recording = exchange.recording
    if recording.status == 0 and not exchange.conversation.refused:
        raise Vacuous("no answer came; WIRE-1 reports that")
    if recording.ended.startswith("broken"):
        fail("a complete body", f"{recording.ended}, after {len(recording.body)} bytes")


@rule("WIRE-29", harm="lost", of="all")
def is_not_encoded(exchange: Exchange) -> None:
    """The body of an answer or an error is not compressed if the request says `accept-encoding: identity`.

    A client that cannot decompress it reads nothing.

    Source: https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3 ("the origin server SHOULD send a response without any
    content coding").
    """
    recording = exchange.recording
    if recording.status == 0:
        raise Vacuous("no answer came; WIRE-1 or SRV-1 reports that")
    if ENCODING in recording.headers:
        fail("no content encoding", recording.headers[ENCODING])


@rule("WIRE-3", harm="lost")
def has_the_content_type(exchange: Exchange) -> None:
    """A plain answer is `application/json`; a stream has the documented content type, such as `text/event-stream`.

    Clients decide by the content type how to read the body. They do not read a stream with another content type as a
    stream.

    Source: https://platform.openai.com/docs/api-reference/chat/create;
    https://docs.anthropic.com/en/docs/build-with-claude/streaming ("server-sent events"), with
    https://html.spec.whatwg.org/multipage/server-sent-events.html#text/event-stream;
    https://docs.ollama.com/api/streaming ("the application/x-ndjson content type").
    """
    exchange.body  # noqa: B018 - raises Blocked
    wanted = exchange.api.framing.content_type if exchange.streamed else "application/json"
    expect_equal("content type", exchange.content_type, wanted)


@rule("WIRE-4", harm="lost", modes=("json",))
def is_one_json_object(exchange: Exchange) -> None:
    """A plain answer is one JSON object in UTF-8.

    NaN, a second document, and bytes that are not UTF-8 are errors in strict parsers.

    Source: https://www.rfc-editor.org/rfc/rfc8259#section-8.1.
    """
    body = exchange.body
    try:
        document = json_value(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        fail("one JSON object in UTF-8", _start_of(body) or "an empty body", hint=str(error)[:200])
    if not isinstance(document, dict):
        fail("one JSON object in UTF-8", show(document))


@rule("WIRE-5", harm="lost", modes=("stream",), apis=("chat", "messages", "responses"))
def is_an_event_stream(exchange: Exchange) -> None:
    """A stream consists of server-sent events in UTF-8, each a JSON object or `[DONE]`, with a blank line after it.

    A client drops an event without a blank line after it, and fails at data that is not JSON.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation, and
    https://platform.openai.com/docs/api-reference/chat/create ("stream");
    https://docs.anthropic.com/en/docs/build-with-claude/streaming ("associated JSON data").
    """
    body = exchange.body
    try:
        foreign = next(foreign_lines(body), None)
        events = exchange.events if foreign is None else ()
    except UnicodeDecodeError as error:
        fail("text in UTF-8", f"{error.reason} at byte {error.start}")
    if foreign is not None:
        fail("lines of server-sent events", f"the line {show(foreign)}")
    if not events:
        fail("events", _start_of(body) or "an empty body")
    for number, event in enumerate(events, start=1):
        if event.data != DONE and not _is_object(event.data):
            fail("a JSON object or [DONE] in each event", show(event.data), f"event {number}")
        if not event.is_ended:
            fail("a blank line behind each event", f"none behind {show(event.data)}", f"event {number}")


@rule("WIRE-6", harm="false success", modes=("stream",))
def ends_with_its_last_event(exchange: Exchange) -> None:
    """A stream ends with the last event of the format, such as `[DONE]`, and nothing comes after it.

    Without that event, a client cannot tell a complete answer from one that broke off. What comes after it is lost. In
    responses, `[DONE]` may come after the last event, because the Open Responses specification demands `[DONE]`.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("stream"): "tokens will be sent as data-only
    server-sent events as they become available, with the stream terminated by a data: [DONE] message";
    https://docs.anthropic.com/en/docs/build-with-claude/streaming ("A final `message_stop` event");
    https://platform.openai.com/docs/api-reference/responses-streaming (`response.completed`, `response.incomplete`,
    `response.failed`); https://www.openresponses.org/specification ("[DONE]"); https://docs.ollama.com/api/chat
    ("done": "True for the final event in the stream").
    """
    data = [event.data for event in exchange.events]
    last = exchange.api.last
    if not data:
        raise Blocked("the stream has no event; a rule about framing reports that")
    at = next((number for number, each in enumerate(data) if exchange.api.is_last(each)), None)
    if at is None:
        fail(f"{last} at the end", show(data[-1]), "last event")
    behind = data[at + 1 :]
    if behind and behind != [exchange.api.behind_last]:
        fail(f"nothing behind {last}", show(behind[-1]), f"event {len(data)}")


def _is_object(data: str) -> bool:
    try:
        return isinstance(json_value(data), dict)
    except (ValueError, RecursionError):
        return False


def _start_of(body: bytes) -> str:
    return show(body[:300].decode("utf-8", "replace")) if body else ""
