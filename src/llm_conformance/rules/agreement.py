"""Whether a part of a response is as expected.

One fault gives one failure. If a rule depends on another part of the response, and that part is wrong, only the rule
about that part reports the fault. The functions raise Blocked if there is no response, as `Exchange.response` does.
"""

from __future__ import annotations

from llm_conformance.compare import as_json, same
from llm_conformance.contract import Segment
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.folding import fold
from llm_conformance.rules.leaks import leaked_from
from llm_conformance.rules.segments import opaque_data
from llm_conformance.rules.violation import Blocked
from llm_conformance.scenarios.expected import Expected

_TAGS = ("<think", "</think")


def leaked_reasoning(exchange: Exchange) -> str | None:
    """Return a piece of reasoning, or a think tag, that is wrongly in the message; None if there is none."""
    expected = exchange.expected
    if expected.reasoning is None:
        return None
    return leaked_from(expected.reasoning, exchange.response.message, expected.message)


def has_tags(expected: Expected) -> bool:
    """Return True if a think tag is part of the expected answer."""
    return "message" in expected.stated and any(tag in expected.message for tag in _TAGS)


def missing_tag(exchange: Exchange) -> str | None:
    """Return a think tag of the expected answer that the message lacks; None if it lacks none."""
    message, expected = exchange.response.message, exchange.expected.message
    return next((tag for tag in _TAGS if message.count(tag) < expected.count(tag)), None)


def message_is_right(exchange: Exchange) -> bool:
    """Return True if the message is the expected one, or the scenario does not state `message`."""
    message, expected = exchange.response.message, exchange.expected
    if "message" not in expected.stated:
        return True
    if expected.message_is_json:
        return same(as_json(message), as_json(expected.message))
    return message in (expected.message, expected.message + expected.refusal)


def expect_right_message(exchange: Exchange, what: str) -> None:
    """Raise Blocked unless the message is as expected. `what` says what cannot be compared then, such as "spans"."""
    if not message_is_right(exchange):
        raise Blocked(f"{what} cannot be compared in another message; MSG-2 reports that")


def reasoning_is_right(exchange: Exchange) -> bool:
    """Return True if the reasoning is the expected one, or the scenario does not state `reasoning`."""
    expected = exchange.expected
    return "reasoning" not in expected.stated or exchange.response.reasoning == expected.reasoning


def calls_are_right(exchange: Exchange) -> bool:
    """Return True if as many tool calls came back as expected, or the scenario does not state `tool_calls`."""
    expected = exchange.expected
    return "tool_calls" not in expected.stated or len(exchange.response.tool_calls) == len(expected.tool_calls)


def unknown_is_shown(exchange: Exchange) -> bool:
    """Return True if a segment `other`, of the response or of an event, shows the unknown event or block.

    For a bare recording, it is enough that there are more segments with content than known blocks.
    """
    expected, returned = exchange.expected, exchange.response.segments
    if expected.beside_unknown is not None and sum(map(_shows_something, returned)) > expected.beside_unknown:
        return True
    segments = [*returned, *fold(exchange.events).segments]
    unknown = expected.unknown or ""
    return any(segment.type == "other" and unknown in f"{segment.content} {segment.metadata}" for segment in segments)


def _shows_something(segment: Segment) -> bool:
    return bool(segment.type in ("tool_call", "other") or segment.content or opaque_data(segment)[1])
