"""SRV-40 to SRV-41: reasoning in a field of its own."""

from __future__ import annotations

import re

from llm_conformance.compare import show
from llm_conformance.rules.violation import Vacuous, fail
from llm_conformance.server.apis.answer import Answer
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule

_TAG = re.compile(r"</?(?:think|thinking|reasoning|seed:think)>|\[/?THINK\]|<\|channel\|>|<\|start\|>")
"""What models write around their reasoning."""


@rule("SRV-40", harm="leak", needs=("reasoning",))
def content_has_no_reasoning(exchange: Exchange) -> None:
    """The text of an answer has no reasoning tags: the reasoning is in its own field.

    Users see everything in the text as the answer, and the next turn repeats it as the answer.

    Source: https://api-docs.deepseek.com/guides/reasoning_model ("reasoning_content: The content of the CoT, which is
    at the same level as content in the output structure");
    https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking ("thinking content blocks");
    https://docs.ollama.com/capabilities/thinking ("The reasoning output and answer use separate fields").
    """
    if not any(each.text for each in exchange.answers):
        raise Vacuous("the answer has no text")
    tags = [(each, tag) for each in exchange.answers for tag in _TAG.finditer(each.text)]
    for answer, tag in tags:
        if not _may_be_the_models(answer, tag):
            fail("a text without tags of reasoning", show(answer.text[max(tag.start() - 60, 0) :]))
    if tags:
        raise Vacuous("the model may have written the end tag in the text, as its reasoning had ended before")


@rule("SRV-41", harm="leak", modes=("stream",), needs=("reasoning",))
def reasoning_is_split_alike(exchange: Exchange) -> None:
    """If the plain answer has reasoning in its field, the stream has it there, too, and the other way round.

    A program that shows reasoning apart would show it as the answer in one of the two modes.

    Source: https://api-docs.deepseek.com/guides/reasoning_model; https://docs.ollama.com/capabilities/thinking.
    """
    plain = exchange.other(mode="json")
    if plain is None or "reasoning" not in exchange.conversation.needs:
        raise Vacuous("the conversation does not ask for reasoning in both modes")
    streamed, whole = _has_reasoning(exchange), _has_reasoning(plain)
    again = exchange.other(mode="json", number=2)
    if again is not None and _has_reasoning(again) is not whole:
        raise Vacuous("the model does not always give its reasoning")
    if not streamed and not whole:
        raise Vacuous("the model gives no reasoning")
    if streamed is not whole:
        fail(
            f"reasoning in its field in both modes, as in the {'stream' if streamed else 'plain answer'}",
            f"none in the {'plain answer' if streamed else 'stream'}",
        )


def _may_be_the_models(answer: Answer, tag: re.Match[str]) -> bool:
    """Return True for a closing tag after some text if the reasoning is in its field.

    The model itself may write such a tag.
    """
    is_end = tag[0].startswith(("</", "[/"))
    return is_end and bool(answer.reasoning) and bool(answer.text[: tag.start()].strip())


def _has_reasoning(exchange: Exchange) -> bool:
    return any(each.reasoning for each in exchange.answers)
