"""MSG: the message is the whole visible answer and nothing else."""

from __future__ import annotations

from llm_conformance.compare import as_json
from llm_conformance.rules.agreement import has_tags, leaked_reasoning, missing_tag
from llm_conformance.rules.exchange import Exchange, beside
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import Blocked, Vacuous, expect_equal, expect_text, fail
from llm_conformance.scenarios import canary
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode


def _states_message(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "message" in expected.stated


def _has_reasoning(expected: Expected, _mode: Mode) -> bool:
    return expected.reasoning is not None


def _message_has_tag(expected: Expected, _mode: Mode) -> bool:
    return has_tags(expected)


@rule("MSG-1", harm="leak", when=_has_reasoning)
def test_message_holds_no_reasoning(exchange: Exchange) -> None:
    """`message` holds no reasoning: no piece of the trace, and none of the tags around it.

    Users read the model's reasoning as its answer. A word such as "4" may be both the answer and a part of the
    reasoning, so only what the adapter added to the expected answer counts. Each recording is also replayed with canary
    tokens in place of its reasoning. No such token may reach the message.

    Source: S1-01, S1-04, U-03.
    """
    leak = leaked_reasoning(exchange)
    if leak:
        fail("a message without reasoning", f"a message that also holds {leak!r}, which is reasoning")
    with_canary = exchange.related.with_canary()
    if with_canary is None:
        return
    with beside(canary.PARTNER):
        message = with_canary.response.message
    if canary.TOKEN in message:
        fail("a message without reasoning", "a message with the canary token that replaced the reasoning")


@rule("MSG-2", harm="lost", when=_states_message)
def test_message_is_the_whole_visible_answer(exchange: Exchange) -> None:
    """`message` is the whole visible answer, code point for code point.

    Users read an answer that lacks text, or has text that the model did not write. Nothing is trimmed, dropped or
    invented, and no separator joins the blocks. For example, "None" for a null delta, the JSON around the text, and the
    first block alone are wrong. A refusal may follow the answer in the message, or be only in a segment of its own. If
    the provider sends a JSON object in place of text, the message is that object as JSON, with any white space. MSG-1
    reports reasoning in the message, and MSG-3 a missing think tag.

    Source: S0-03, S1-03, S2-12, S3-14.
    """
    message, expected = exchange.response.message, exchange.expected
    if leaked_reasoning(exchange):
        raise Blocked("the message also holds reasoning; MSG-1 reports that")
    if missing_tag(exchange):
        raise Blocked("the message lacks a think tag of the answer; MSG-3 reports that")
    if expected.message_is_json:
        expect_equal("the JSON of the message", as_json(message), as_json(expected.message))
    elif not expected.refusal or message != expected.message + expected.refusal:
        expect_text("the message", message, expected.message)


@rule("MSG-3", harm="wrong", when=_message_has_tag)
def test_think_tags_of_the_answer_stay_in_the_answer(exchange: Exchange) -> None:
    """A think tag that is part of the answer stays part of the answer.

    A code sample that shows `<think>` reaches users without that tag. Tags are parsed only where the model is known to
    put its reasoning between them, and never if the provider sends the reasoning in a field of its own.

    Source: S1-09, S1-18.
    """
    tag = missing_tag(exchange)
    if tag is not None:
        expected, message = exchange.expected.message, exchange.response.message
        fail(f"{expected.count(tag)} times {tag!r} in the message", f"{message.count(tag)} times")


@rule("MSG-4", harm="wrong")
def test_aliases_are_the_message(exchange: Exchange) -> None:
    """`content` and `text` are aliases of `message`: where they are present, they are equal to it.

    Code that reads `content` shows a different text from code that reads `message`. Both aliases are optional.

    Source: S1-03.
    """
    response = exchange.response
    aliases = {name: text for name in ("content", "text") if (text := response.get(name)) is not None}
    if not aliases:
        raise Vacuous("the response has neither `content` nor `text`")
    for name, text in aliases.items():
        expect_text(f"`{name}`, an alias of the message,", text, response.message)
