"""WIRE-7, WIRE-8, WIRE-11 and WIRE-12: the fields of answers, events and errors. WIRE-13: characters. SRV-5: ids."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

from llm_conformance import schema
from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, Vacuous, expect_equal, fail
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.wire.framings.base import json_value


@rule("WIRE-7", harm="lost", modes=("json",))
def answer_has_the_documented_shape(exchange: Exchange) -> None:
    """A plain answer has the documented fields, with the documented types and words.

    A typed client has no value for a missing field, and raises when a program reads it.

    Source: https://platform.openai.com/docs/api-reference/chat/object, and the required fields of `ChatCompletion` in
    openai 2.x (Python); https://docs.anthropic.com/en/api/messages, and `Message` in anthropic 2.x (Python);
    https://platform.openai.com/docs/api-reference/responses/object, and `Response` in openai 3.x;
    https://docs.ollama.com/api/chat, and `ChatResponse` in ollama 0.6 (Python, JavaScript).
    """
    _expect_shape("response", exchange, exchange.document)


@rule("WIRE-8", harm="lost", modes=("stream",))
def events_have_the_documented_shape(exchange: Exchange) -> None:
    """Each event of a stream has the documented fields, with the documented types and words.

    A typed client has no value for a missing field, and raises when a program reads it.

    Source: https://platform.openai.com/docs/api-reference/chat-streaming/streaming, and the required fields of
    `ChatCompletionChunk` in openai 2.x (Python); https://docs.anthropic.com/en/docs/build-with-claude/streaming, and
    `RawMessageStreamEvent` in anthropic 2.x (Python);
    https://platform.openai.com/docs/api-reference/responses-streaming, and `ResponseStreamEvent` in openai 3.x;
    https://docs.ollama.com/api/chat, and `ChatResponse` in ollama 0.6 (Python, JavaScript).
    """
    for number, chunk in enumerate(exchange.chunks, start=1):
        _expect_shape("chunk", exchange, chunk, f"event {number}")


@rule("WIRE-11", harm="wrong", of="refusals", apis=("chat", "messages", "responses"))
def error_has_the_documented_shape(exchange: Exchange) -> None:
    """The body of an error is a JSON object with `error`, which has a `message` and a `type`.

    Clients make the message of their exceptions from it. Otherwise a user sees nothing, or an error of a parser.

    Source: https://platform.openai.com/docs/guides/error-codes, and `ErrorObject` in openai 2.x (Python);
    https://docs.anthropic.com/en/api/errors#error-shapes.
    """
    if exchange.recording.status < 400:
        raise Vacuous("the request was not refused; SRV-1 reports that")
    error = _error(exchange)
    for name in ("message", "type"):
        if not isinstance(error.get(name), str) or not error[name]:
            fail(f"a text as `{name}`", show(error.get(name)), f"error.{name}")


@rule("WIRE-12", harm="untraceable", of="refusals", apis=("chat", "responses"))
def details_of_error_have_the_documented_types(exchange: Exchange) -> None:
    """`code` and `param` of an error are texts or null.

    Programs compare the code with words such as `context_length_exceeded`.

    Source: https://platform.openai.com/docs/guides/error-codes, and `ErrorObject` in openai 2.x (Python).
    """
    if exchange.recording.status < 400:
        raise Vacuous("the request was not refused; SRV-1 reports that")
    try:
        error = _error(exchange)
    except AssertionError:
        raise Blocked("the body is not a documented error; WIRE-11 reports that") from None
    for name in ("code", "param"):
        if not isinstance(error.get(name), str | None):
            fail(f"a text or null as `{name}`", show(error[name]), f"error.{name}")


@rule("SRV-5", harm="untraceable", apis=("chat", "messages", "responses"))
def each_answer_has_its_own_id(exchange: Exchange) -> None:
    """No two answers have the same `id`.

    People find an answer in a log by its id.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("id": "A unique identifier for the chat
    completion"); https://docs.anthropic.com/en/api/messages ("id": "Unique object identifier").
    """
    first = exchange.other("plain", "json")
    if first is None or first.recording == exchange.recording:
        raise Vacuous("there is no other answer to compare with")
    id = exchange.api.id(exchange.documents)
    if id and id == exchange.api.id(first.documents):
        fail("an id of its own", f"{show(id)}, which the plain answer of `plain` has, too")


@rule("WIRE-13", harm="wrong")
def text_is_whole_characters(exchange: Exchange) -> None:
    """Each piece of text consists of whole characters: no character is cut at the end of a chunk.

    A cut character becomes U+FFFD or half a surrogate pair, and readers see a question mark.

    Source: https://www.rfc-editor.org/rfc/rfc8259#section-8.2, and
    https://www.rfc-editor.org/rfc/rfc8259#section-8.1.
    """
    for answer in exchange.answers:
        for name, pieces in (("content", answer.texts), ("reasoning", answer.reasonings)):
            half = next((piece for piece in pieces if any("\ud800" <= each <= "\udfff" for each in piece)), None)
            if half is not None:
                fail("whole characters", f"half of a surrogate pair in {ascii(half)[:200]}", name)
            _expect_no_seam(exchange, pieces, name)


def _expect_no_seam(exchange: Exchange, pieces: list[str], name: str) -> None:
    """Raise a Violation for U+FFFD between two pieces. If the plain answer has it, too, the model wrote it."""
    pairs = itertools.pairwise(pieces)
    seam = next((pair for pair in pairs if pair[0].endswith("�") and pair[1].startswith("�")), None)
    plain = exchange.other(mode="json")
    if seam is None or plain is None:
        return
    if not any("�" in each.text + each.reasoning for each in plain.answers):
        fail("whole characters in each chunk", f"{show(seam[0])} and then {show(seam[1])}", name)


def _error(exchange: Exchange) -> Mapping[str, Any]:
    body = exchange.kept_body
    expect_equal("content type", exchange.content_type, "application/json")
    try:
        document = json_value(body.decode("utf-8"))
    except (ValueError, RecursionError):
        fail("a JSON object with `error`", show(body[:200].decode("utf-8", "replace")))
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, Mapping):
        fail("a JSON object with `error`", show(document))
    return error


def _expect_shape(part: str, exchange: Exchange, document: Any, where: str = "") -> None:
    problems = list(schema.problems(f"server-{exchange.api.name}#/$defs/{part}", document))
    if problems:
        path, message = problems[0]
        more = Counter(text for _, text in problems[1:])
        place = schema.dotted(path) if path else "the document"
        anywhere = ".".join("*" if isinstance(step, int) else str(step) for step in path)
        fail(
            "the documented shape",
            f"{place}: {message}",
            where,
            hint=f"and {more.total()} more" if more else "",
            cause=f"{anywhere}: {message.partition(', and is')[0]}",
        )
