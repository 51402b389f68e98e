"""SRV-20 to SRV-23: finish reasons, the token limit, and stop sequences."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, Vacuous, fail
from llm_conformance.server.apis.answer import Answer
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule


@rule("SRV-20", harm="wrong")
def limit_on_tokens_is_obeyed(exchange: Exchange) -> None:
    """An answer has at most as many tokens as the request allows.

    The limit is what a caller is willing to pay.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("max_completion_tokens": "An upper bound for the
    number of tokens that can be generated for a completion, including visible output tokens and reasoning tokens");
    https://docs.anthropic.com/en/api/messages ("max_tokens": "The maximum number of tokens to generate before
    stopping"); https://platform.openai.com/docs/api-reference/responses/create ("max_output_tokens");
    https://docs.ollama.com/api/chat ("num_predict": "Maximum number of tokens to generate").
    """
    tokens = exchange.counts.output
    limit = exchange.api.limit(exchange.request) * len(exchange.answers)
    if tokens is None or not limit:
        raise Vacuous("the answer has no counts, or the request no limit")
    if tokens > limit:
        fail(f"at most {limit} tokens", f"{tokens} tokens")


@rule("SRV-21", harm="false success")
def cut_answer_says_so(exchange: Exchange) -> None:
    """An answer has the finish word for the token limit (`length`) if the limit has cut it off, and only then.

    Otherwise clients take half an answer for the whole.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("finish_reason": "length if the maximum number
    of tokens specified in the request was reached"); https://docs.anthropic.com/en/api/messages ("stop_reason":
    "max_tokens"); https://platform.openai.com/docs/api-reference/responses/object ("incomplete_details");
    https://docs.ollama.com/api/chat ("done_reason").
    """
    answers, cut = exchange.answers, exchange.api.cut
    tokens, limit = exchange.counts.output, exchange.api.limit(exchange.request)
    if not tokens or not limit or len(answers) != 1:
        raise Vacuous("the counts do not say how long the answer is")
    word = _word(answers[0])
    if tokens > limit:
        raise Blocked("the answer is longer than the limit; SRV-20 reports that")
    if tokens == limit and exchange.conversation.tokens and word == exchange.api.ended:
        # The model may have ended the answer by itself, unless a higher limit gives the same request a longer answer.
        whole = exchange.other("count", exchange.mode)
        text = "" if whole is None else whole.answer.text
        if not text.startswith(answers[0].text) or text == answers[0].text:
            raise Vacuous("the answer may have ended by itself")
        fail(f"the finish word {show(cut)}", f"{show(word)} after {tokens} of {limit} tokens")
    if word == cut and tokens < limit - 1:  # only some servers count the token that ends an answer
        fail(f"another finish word than {cut}", f"{cut} after {tokens} of {limit} tokens")
    if tokens < limit and exchange.conversation.tokens:
        raise Vacuous("the model has ended the answer before the limit")


@rule("SRV-22", harm="wrong", apis=("chat", "messages"))
def finish_word_fits_the_calls(exchange: Exchange) -> None:
    """An answer has the finish word for calls, such as `tool_calls`, if and only if it has calls.

    Programs run the tools only if the finish word says so.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("finish_reason": "tool_calls if the model called
    a tool"). A call that the request forces may end with `stop`:
    https://platform.openai.com/docs/guides/function-calling. https://docs.anthropic.com/en/api/messages ("stop_reason":
    "tool_use": "the model invoked one or more tools").
    """
    wanted = exchange.api.calls
    for answer in exchange.answers:
        word = _word(answer)
        if word == wanted and not answer.calls:
            fail(f"a call with the finish word {wanted}", "none")
        forced = exchange.api.tool_choice(exchange.request) not in (None, "auto")
        if answer.calls and word not in (wanted, exchange.api.cut, *(["stop"] if forced else [])):
            fail(f"the finish word {show(wanted)} for an answer with calls", show(word))


@rule("SRV-23", harm="wrong", apis=("chat", "messages", "ollama"))
def stop_sequence_is_not_in_the_text(exchange: Exchange) -> None:
    """The text ends before a stop sequence, and the finish word says so, such as `stop`.

    Programs set a stop sequence because they cannot use what follows.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("stop": "The returned text will not contain the
    stop sequence"); https://docs.anthropic.com/en/api/messages ("stop_sequences", "stop_reason": "stop_sequence");
    https://docs.ollama.com/modelfile ("stop": "When this pattern is encountered the LLM will stop generating text and
    return"), and `TruncateStop` in https://github.com/ollama/ollama/blob/main/runner/common/stop.go.
    """
    words = exchange.api.stops(exchange.request)
    if not words:
        raise Vacuous("no stop sequence is given")
    answer = exchange.answer
    for word in words:
        if word in answer.text:
            fail(f"a text without {show(word)}", show(answer.text))
    without = exchange.other("count", exchange.mode)
    if without is None or not any(word in without.answer.text for word in words):
        raise Vacuous("the model does not write the stop sequence when it may")
    if _word(answer) not in (exchange.api.stopped, exchange.api.cut):
        fail(f"the finish word {show(exchange.api.stopped)}", show(_word(answer)))


def _word(answer: Answer) -> str:
    if not answer.finish:
        raise Blocked("there is no finish word; a rule about shapes reports that")
    return answer.finish[-1]
