"""SRV-20 to SRV-23: finish reasons, the limit on tokens, and stop sequences."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, Vacuous, fail
from llm_conformance.server import chat
from llm_conformance.server.chat import Choice
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule


def _limit(exchange: Exchange) -> int:
    limits = (exchange.request.get(name) for name in ("max_tokens", "max_completion_tokens"))
    return next(each for each in limits if isinstance(each, int))


def _tokens(exchange: Exchange) -> int | None:
    return chat.count(chat.last_usage(exchange), "completion_tokens")


@rule("SRV-20", harm="wrong")
def limit_on_tokens_is_obeyed(exchange: Exchange) -> None:
    """An answer has at most as many tokens as the request allows.

    The limit is what a caller is ready to pay.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("max_completion_tokens": "An upper bound for the
    number of tokens that can be generated for a completion, including visible output tokens and reasoning tokens").
    """
    tokens = _tokens(exchange)
    if tokens is None:
        raise Vacuous("the answer has no counts")
    limit = _limit(exchange) * len(chat.choices(exchange))
    if tokens > limit:
        fail(f"at most {limit} tokens", f"completion_tokens {tokens}")


@rule("SRV-21", harm="false success")
def cut_answer_says_so(exchange: Exchange) -> None:
    """The finish reason is `length` if the limit on tokens has cut the answer off, and only then.

    Otherwise half of an answer is taken for all of it.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("finish_reason": "length if the maximum number
    of tokens specified in the request was reached").
    """
    choices = chat.choices(exchange)
    tokens, limit = _tokens(exchange), _limit(exchange)
    if not tokens or len(choices) != 1:
        raise Vacuous("the counts do not say how long the answer is")
    word = _word(choices[0])
    if tokens > limit:
        raise Blocked("the answer is longer than the limit; SRV-20 reports that")
    if tokens == limit and exchange.conversation.tokens and word == "stop":
        # The model may have ended it by itself, unless the same request with a higher limit goes on behind it.
        whole = exchange.other("count", exchange.mode)
        text = "" if whole is None else chat.only_choice(whole).text
        if not text.startswith(choices[0].text) or text == choices[0].text:
            raise Vacuous("the answer may have ended by itself")
        fail('finish_reason "length"', f"{show(word)} after {tokens} of {limit} tokens")
    if word == "length" and tokens < limit - 1:  # some count the token that ends an answer, and some do not
        fail("another finish reason than length", f"length after {tokens} of {limit} tokens")
    if tokens < limit and exchange.conversation.tokens:
        raise Vacuous("the model has ended the answer before the limit")


@rule("SRV-22", harm="wrong")
def finish_reason_fits_the_calls(exchange: Exchange) -> None:
    """An answer with calls that the model chose to make ends with `tool_calls`. One without calls does not.

    Programs run the tools if the finish reason says so, and only then.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("finish_reason": "tool_calls if the model called
    a tool"). A call that the request forces may end with `stop`:
    https://platform.openai.com/docs/guides/function-calling.
    """
    for choice in chat.choices(exchange):
        word = _word(choice)
        if word == "tool_calls" and not choice.calls:
            fail("a call with the finish reason tool_calls", "none")
        forced = exchange.request.get("tool_choice", "auto") != "auto"
        if choice.calls and word not in ("tool_calls", "length", *(["stop"] if forced else [])):
            fail('finish_reason "tool_calls" for an answer with calls', show(word))


@rule("SRV-23", harm="wrong")
def stop_sequence_is_not_in_the_text(exchange: Exchange) -> None:
    """The text ends before a stop sequence, with the finish reason `stop`.

    Programs set a stop sequence because they cannot use what follows.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("stop": "The returned text will not contain the
    stop sequence").
    """
    words = exchange.request.get("stop")
    if not words:
        raise Vacuous("no stop sequence is given")
    choice = chat.only_choice(exchange)
    for word in words:
        if word in choice.text:
            fail(f"a text without {show(word)}", show(choice.text))
    without = exchange.other("count", exchange.mode)
    if without is None or not any(word in chat.only_choice(without).text for word in words):
        raise Vacuous("the model does not write the stop sequence when it may")
    if _word(choice) not in ("stop", "length"):
        fail('finish_reason "stop"', show(_word(choice)))


def _word(choice: Choice) -> str:
    if not choice.finish:
        raise Blocked("there is no finish reason; WIRE-7 or WIRE-10 reports that")
    return choice.finish[-1]
