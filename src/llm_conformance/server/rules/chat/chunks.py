"""WIRE-9, WIRE-10 and SRV-32: what the chunks of a stream have to say as a whole."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import fail
from llm_conformance.server.apis.chat import Choice
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.server.rules.tools import with_calls


@rule("WIRE-9", harm="untraceable", modes=("stream",), apis=("chat",))
def chunks_are_of_one_answer(exchange: Exchange) -> None:
    """All chunks of a stream have the same `id`, and the same `created`.

    The id tells a client to which answer a chunk belongs.

    Source: https://platform.openai.com/docs/api-reference/chat-streaming/streaming: "Each chunk has the same ID" and
    "Each chunk has the same timestamp".
    """
    for name in ("id", "created"):
        found = list(dict.fromkeys(show(chunk.get(name)) for chunk in exchange.chunks if name in chunk))
        if len(found) > 1:
            cause = f"another `{name}` in some chunks"
            fail(f"the same `{name}` in all chunks", " and ".join(found[:3]), cause=cause)


@rule("WIRE-10", harm="false success", modes=("stream",), apis=("chat",))
def each_choice_ends_once(exchange: Exchange) -> None:
    """Each choice of a stream has one finish reason, in its last chunk with content.

    Without a reason, a client cannot tell why the answer ended. Clients that stop at a reason lose what follows.

    Source: https://platform.openai.com/docs/api-reference/chat-streaming/streaming ("finish_reason").
    """
    for choice in (each for each in exchange.answers if isinstance(each, Choice)):
        where = f"choice {choice.index}"
        if not choice.finish:
            fail("a finish reason", "none in the whole stream", where)
        if len(choice.finish) > 1:
            fail("one finish reason", show(choice.finish), where)
        if choice.after_finish:
            fail("nothing behind the finish reason", show(sorted(set(choice.after_finish))), where)


@rule("SRV-32", harm="wrong", modes=("stream",), apis=("chat",))
def pieces_of_calls_can_be_joined(exchange: Exchange) -> None:
    """In a stream the first piece of a call has its id and name, later pieces have neither, and indexes count from 0.

    Clients join the texts of pieces with the same index: an id that comes twice becomes a different id.

    Source: https://platform.openai.com/docs/guides/function-calling#streaming, and `accumulate_delta` in openai 2.x
    (Python), which joins all texts except `type`.
    """
    for choice in with_calls(exchange):
        indexes = list(choice.calls)
        if indexes != list(range(len(indexes))):
            fail("calls with the indexes 0, 1, ...", show(indexes))
        for index, call in choice.calls.items():
            first, *later = call.pieces
            function = first.get("function")
            name = function.get("name") if isinstance(function, dict) else None
            if not first.get("id") or not name:
                fail("id and name in the first piece of a call", show(first), f"call {index}")
            for piece in later:
                inner = piece.get("function")
                again = piece.get("id") or (inner.get("name") if isinstance(inner, dict) else None)
                if again:
                    fail("id and name once for each call", f"{show(again)} again", f"call {index}")
