"""MSG: the message is the whole visible answer, and nothing but the visible answer."""

from __future__ import annotations

from llm_conformance.compare import as_json
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.leaks import leaked_from
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import expect_equal, expect_text, fail
from llm_conformance.scenarios import canary
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode


def _states_the_message(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "message" in expected.stated


def _reasoned(expected: Expected, _mode: Mode) -> bool:
    return expected.reasoning is not None


def _speaks_of_tags(expected: Expected, _mode: Mode) -> bool:
    return "message" in expected.stated and ("<think" in expected.message or "</think" in expected.message)


@rule("MSG-1", when=_reasoned)
def test_message_holds_no_reasoning(exchange: Exchange) -> None:
    """`message` holds no reasoning: no piece of the trace, and none of the tags around it.

    Users read the message; a trace in it is shown to them, spoken to them, or sent on. What counts is what the adapter
    added to the true answer: "4" may be both the answer and a word of the reasoning (S1-01, S1-04, U-03). So each
    recording is replayed once more with a canary in the place of its reasoning, in every copy of the trace.
    """
    leak = leaked_from(exchange.expected.reasoning or "", exchange.response.message, exchange.expected.message)
    if leak:
        fail("a message without reasoning", f"the message also holds {leak!r}, which is reasoning")
    swapped = exchange.others.canary()
    if swapped is not None and canary.TOKEN in swapped.response.message:
        fail("a message without reasoning", "a canary put into the reasoning is in the message")


@rule("MSG-2", when=_states_the_message)
def test_message_is_the_whole_visible_answer(exchange: Exchange) -> None:
    """`message` is the whole visible answer, code point for code point.

    Nothing is trimmed, joined by a separator, dropped or invented: no "None" for a null delta, no dumped envelope, no
    first block only. Offsets of annotations count in this text. `content` and `text`, if present, are aliases
    (S0-03, S1-03, S2-12, S3-14). A refusal may stand behind the answer, or only in its own segment; where the provider
    has a JSON object in the place of text, the message is its JSON, however spaced.
    """
    message, expected = exchange.response.message, exchange.expected
    if expected.message_is_json:
        expect_equal("the JSON of the message", as_json(message), as_json(expected.message))
    elif not expected.refusal or message != expected.message + expected.refusal:
        expect_text("the message", message, expected.message)
    for alias in ("content", "text"):
        other = exchange.response.get(alias)
        if other is not None:
            expect_text(f"`{alias}`, an alias of the message,", other, message)


@rule("MSG-3", when=_speaks_of_tags)
def test_think_tags_of_the_answer_stay_in_the_answer(exchange: Exchange) -> None:
    """A think tag that is part of the answer stays part of the answer.

    A model that explains `<think>` in a code sample does not think. Tags are looked for only where the model is known
    to put its reasoning between them, and never beside native reasoning (S1-09, S1-18).
    """
    expected, message = exchange.expected.message, exchange.response.message
    for tag in ("<think", "</think"):
        if message.count(tag) != expected.count(tag):
            fail(f"{expected.count(tag)} times {tag!r} in the message", f"{message.count(tag)} times")
