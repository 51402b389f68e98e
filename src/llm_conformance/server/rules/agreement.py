"""SRV-14, SRV-50 to SRV-53: streams compared with plain answers, and how connections end."""

from __future__ import annotations

from llm_conformance.rules.violation import Vacuous, expect_equal, expect_text, fail
from llm_conformance.server.apis.answer import Answer
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.wording import counted

_LONG_MS = 3000
_PIECES = 10
_READS = 2
"""A stream in this many reads came all at once: first a quick piece, such as the role, and then the rest."""


@rule("SRV-14", harm="wrong count", modes=("stream",))
def prompt_counts_alike(exchange: Exchange) -> None:
    """The same prompt has the same number of tokens in a stream as in a plain answer.

    A prompt is counted before the answer, so the way in which the answer is sent makes no difference.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("prompt_tokens": "Number of tokens in the
    prompt"); https://docs.ollama.com/api/chat ("prompt_eval_count": "Number of tokens in the prompt").
    """
    plain = exchange.other(mode="json")
    if plain is None:
        raise Vacuous("the conversation was not asked for a plain answer")
    streamed, whole = (each.counts.input for each in (exchange, plain))
    if streamed is None or whole is None:
        raise Vacuous("a count is missing")
    expect_equal("tokens of the prompt, as in the plain answer,", streamed, whole)


@rule("SRV-50", harm="wrong", modes=("stream",), needs=("seed",))
def stream_says_the_same(exchange: Exchange) -> None:
    """A stream says the same as two plain answers that are alike: text, reasoning, calls and finish word.

    Otherwise something is lost, added or misplaced in the chunks.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("seed"), and
    https://platform.openai.com/docs/api-reference/chat-streaming/streaming;
    https://docs.anthropic.com/en/docs/build-with-claude/streaming ("accumulated"): the pieces of a
    stream make up the message; https://platform.openai.com/docs/api-reference/responses-streaming;
    https://docs.ollama.com/capabilities/streaming ("accumulate the partial fields").
    """
    first, second = exchange.other(mode="json"), exchange.other(mode="json", number=2)
    if first is None or second is None:
        raise Vacuous("the plain request was not sent twice")
    one, other = (each.answer for each in (first, second))
    if _said(one) != _said(other):
        raise Vacuous("two plain answers to the same request differ")
    streamed = exchange.answer
    expect_text("the text of the plain answer,", streamed.text, one.text)
    expect_text("the reasoning of the plain answer,", streamed.reasoning, one.reasoning)
    expect_equal("calls as in the plain answer:", _calls(streamed), _calls(one))
    if streamed.finish and one.finish:  # else WIRE-7 or WIRE-10 reports it
        expect_equal("finish word as in the plain answer:", streamed.finish[-1], one.finish[-1])


@rule("SRV-51", harm="unsafe", modes=("stream",))
def connection_ends_with_the_stream(exchange: Exchange) -> None:
    """The response ends after its last event.

    Clients that wait for the end hang, with a connection that nobody else can use.

    Source: https://www.rfc-editor.org/rfc/rfc9112#section-6.3.
    """
    if not any(exchange.api.is_last(event.data) for event in exchange.events):
        raise Vacuous(f"the stream has no {exchange.api.last}; WIRE-6 reports that")
    recording = exchange.recording
    if recording.ended == "open":
        fail(f"the end of the response behind {exchange.api.last}", f"none within {recording.milliseconds} ms")


@rule("SRV-52", harm="lost")
def cancelled_request_changes_nothing(exchange: Exchange) -> None:
    """After a client has dropped a stream, the next request is answered as if nothing had happened.

    Users stop answers all the time. The rest of a stopped answer must not get into the next one.

    Source: https://www.rfc-editor.org/rfc/rfc9110#section-3.3: HTTP is stateless, so each request can be understood in
    isolation.
    """
    if not exchange.conversation.cancels:
        raise Vacuous("no request was cancelled before")
    answer = exchange.answer
    before = exchange.other("plain", "json")
    again = exchange.other("plain", "json", 2)
    if before is None or again is None or "seed" not in exchange.claims:
        raise Vacuous("the server does not claim to give the same answer again (seed)")
    expected = before.answer
    if _said(expected) != _said(again.answer):
        raise Vacuous("two plain answers to the same request differ")
    if exchange.streamed:
        uncancelled = exchange.other("plain", "stream")
        if uncancelled is None or uncancelled.answer.text != expected.text:
            raise Vacuous("the stream differs from the plain answer without that; SRV-50 reports that")
    expect_text("the text as without the cancelled request,", answer.text, expected.text)


@rule("SRV-53", harm="late", modes=("stream",))
def stream_comes_as_it_is_made(exchange: Exchange) -> None:
    """The pieces of a stream come one after the other, not all at its end.

    Users wait before an empty window.

    Only answers that take three seconds or more are judged.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("stream": "tokens will be sent ... as they
    become available"); https://docs.anthropic.com/en/docs/build-with-claude/streaming ("incrementally stream the
    response"); https://docs.ollama.com/api/streaming ("Real-time response generation").
    """
    recording = exchange.recording
    pieces = len(exchange.chunks)
    if recording.milliseconds < _LONG_MS or pieces < _PIECES:
        raise Vacuous("the answer is too short to tell")
    if len(recording.arrival) <= _READS:
        pieces_of = f"{pieces} pieces in {counted(len(recording.arrival), 'read')}"
        fail("pieces that come as they are made", f"{pieces_of}, {recording.milliseconds} ms after the request")


def _calls(answer: Answer) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in answer.calls.values()]


def _said(answer: Answer) -> tuple[str, str, list[tuple[str, str]], list[str]]:
    return answer.text, answer.reasoning, _calls(answer), answer.finish[-1:]
