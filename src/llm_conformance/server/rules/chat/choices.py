"""SRV-4 and SRV-8: choices and the probabilities of tokens."""

from __future__ import annotations

from typing import Any

from llm_conformance.compare import show
from llm_conformance.rules.violation import Vacuous, expect_equal, fail
from llm_conformance.server.apis.answer import objects
from llm_conformance.server.apis.chat import Choice
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule


@rule("SRV-4", harm="lost", apis=("chat",))
def choices_are_those_asked_for(exchange: Exchange) -> None:
    """An answer has as many choices as the request asks for, with indexes from 0.

    Clients join the pieces of a stream with the same index.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("n").
    """
    wanted = exchange.request.get("n", 1)
    found = [each.index for each in exchange.answers if isinstance(each, Choice)]
    expect_equal("choices with the indexes", sorted(found, key=str), list(range(wanted)))


@rule("SRV-8", harm="wrong", needs=("logprobs",), apis=("chat",))
def probabilities_are_those_of_the_text(exchange: Exchange) -> None:
    """With `logprobs`, each token of the text has its probability, and no more alternatives than asked for.

    A probability is at most 1, so its logarithm is at most 0. If a token is missing or there is one too many, the
    probabilities belong to the wrong words.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("logprobs").
    """
    if not exchange.request.get("logprobs"):
        raise Vacuous("the request does not ask for probabilities")
    choice = exchange.answer
    if not choice.text:
        raise Vacuous("the answer has no text")
    entries = list(objects(choice.logprobs if isinstance(choice, Choice) else []))
    if not entries:
        fail("`logprobs` with a list `content`", "none")
    for number, entry in enumerate(entries):
        value, alternatives = entry.get("logprob"), entry.get("top_logprobs")
        if isinstance(value, int | float) and value > 0:
            fail("a logarithm of at most 0", show(value), f"token {number}")
        if isinstance(alternatives, list) and len(alternatives) > exchange.request["top_logprobs"]:
            wanted = exchange.request["top_logprobs"]
            fail(f"at most {wanted} alternatives", str(len(alternatives)), f"token {number}")
    # The token that ends an answer may have an entry, although it has no text.
    tokens = b"".join(map(_bytes, entries))
    if choice.text.encode("utf-8") not in tokens:
        fail(f"the tokens of {show(choice.text)}", show(tokens.decode("utf-8", "replace")))


def _bytes(entry: Any) -> bytes:
    given = entry.get("bytes")
    if isinstance(given, list) and all(isinstance(each, int) and 0 <= each < 256 for each in given):
        return bytes(given)
    return str(entry.get("token", "")).encode("utf-8", "replace")
