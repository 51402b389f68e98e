"""SRV-10 to SRV-13: token counts."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import Vacuous, fail
from llm_conformance.server.apis.chat import last_usage
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.server.rules.counts import expect_sum


@rule("SRV-10", harm="wrong count", apis=("chat",))
def counts_add_up(exchange: Exchange) -> None:
    """`total_tokens` is the sum of `prompt_tokens` and `completion_tokens`, and neither is 0 if there is content.

    Reasoning tokens are a part of the completion. Budgets and bills are made from these counts.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("usage").
    """
    usage = last_usage(exchange.documents)
    if usage is None:
        raise Vacuous("the answer has no counts")
    expect_sum(exchange, usage, "prompt_tokens", "completion_tokens")


@rule("SRV-11", harm="wrong count", modes=("json",), apis=("chat",))
def plain_answer_has_counts(exchange: Exchange) -> None:
    """A plain answer has `usage`.

    Otherwise nobody knows the cost of the answer.

    Source: https://platform.openai.com/docs/api-reference/chat/object ("usage").
    """
    if last_usage(exchange.documents) is None:
        fail("`usage`", "none")


@rule("SRV-12", harm="wrong count", modes=("stream",), apis=("chat",))
def stream_has_counts_if_asked(exchange: Exchange) -> None:
    """With `include_usage` a stream has the counts once: in its last chunk, with an empty list of choices.

    Clients read the counts there. Clients that add up all counts would count twice.

    Source: https://platform.openai.com/docs/api-reference/chat/create ("stream_options"): "an additional chunk will be
    streamed before the data: [DONE] message ... the choices field will always be an empty array. All other chunks will
    also include a usage field, but with a null value."
    """
    if not exchange.conversation.usage:
        raise Vacuous("nobody asks for counts here")
    found = [(number, each) for number, each in enumerate(exchange.chunks, start=1) if each.get("usage") is not None]
    if not found:
        fail("a chunk with `usage`", "none in the whole stream")
    if len(found) > 1:
        events = ", ".join(str(number) for number, _ in found[:5])
        fail("counts in one chunk", f"counts in {len(found)} chunks", f"events {events}")
    number, chunk = found[0]
    if chunk.get("choices") != []:
        fail("an empty list of choices beside `usage`", show(chunk.get("choices")), f"event {number}")
    if number != len(exchange.chunks):
        fail("counts in the last chunk", f"counts in chunk {number} of {len(exchange.chunks)}")


@rule("SRV-13", harm="lost", modes=("stream",), apis=("chat",))
def stream_has_no_counts_unasked(exchange: Exchange) -> None:
    """Without `include_usage`, a stream has no counts, and no chunk without choices.

    Programs that do not ask for counts read the first choice of each chunk, and fail if there is none. A chunk with the
    results of a content filter is ignored: Azure documents that it has no choice.

    Source: https://platform.openai.com/docs/api-reference/chat-streaming/streaming ("usage"): "An optional field that
    will only be present when you set stream_options".
    """
    if exchange.conversation.usage:
        raise Vacuous("counts are asked for here")
    for number, chunk in enumerate(exchange.chunks, start=1):
        if chunk.get("usage") is not None:
            fail("no `usage`, for which nobody asks", show(chunk["usage"]), f"event {number}")
        if chunk.get("choices") == [] and "prompt_filter_results" not in chunk:
            fail("a choice in each chunk", "an empty list of choices", f"event {number}")
