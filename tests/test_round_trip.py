"""How a request is searched for the earlier conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from llm_conformance.compare import show
from llm_conformance.formats.differences import difference
from llm_conformance.pointers import at_pointer
from llm_conformance.rules.conversations import different_turn, where_they_differ, with_referenced_items
from llm_conformance.scenarios.round_trip import RoundTripRequirement, first_mismatch, first_missing_text, leaks
from llm_conformance.wire.providers.table import table

TRACE = "First the tide table of the harbour, then the wind; a neap tide leaves too little water under the keel."


def round_trip(*texts: str, recorded: list[dict[str, Any]] | None = None) -> RoundTripRequirement:
    request = None if recorded is None else {"messages": recorded}
    return RoundTripRequirement(
        {}, (), (TRACE,), texts, (), frozenset({"reasoning_content"}), "chat", "the tests", recorded=request
    )


def of_gemini(*results: Any) -> dict[str, Any]:
    return {"contents": [{"parts": [{"functionResponse": {"response": {"result": each}}} for each in results]}]}


@pytest.mark.parametrize(
    ("texts", "results"),
    [
        (['[{"a": 1}]'], [[{"a": 1}]]),
        (['[{"a": 1}]'], ['[{"a":1}]']),
        (["20.5"], [20.5]),
        (['{"a": 1}', "B"], [{"a": 1}, "B"]),
        (["one", "two"], ["one and two"]),
    ],
)
def test_a_result_may_be_text_or_a_value(texts: list[str], results: list[Any]) -> None:
    assert first_missing_text(round_trip(*texts), of_gemini(*results)) is None


@pytest.mark.parametrize(
    ("texts", "results", "missing"),
    [
        (['{"a": 1}', "B"], ["B", {"a": 1}], "B"),
        (["two", "one"], ["one and two"], "one"),
        (["one", "one"], ["one"], "one"),
    ],
)
def test_texts_keep_their_order(texts: list[str], results: list[Any], missing: str) -> None:
    assert first_missing_text(round_trip(*texts), of_gemini(*results)) == missing


@pytest.mark.parametrize("start", range(30))
def test_a_piece_of_a_trace_is_found_wherever_it_begins(start: int) -> None:
    request = {"messages": [{"role": "user", "content": f"... {TRACE[start : start + 45]} ..."}]}
    assert [pointer for pointer, _ in leaks(round_trip(), request)] == ["/messages/0/content"]


def test_a_trace_is_allowed_in_reasoning_fields_only() -> None:
    message = {"role": "assistant", "content": "", "reasoning_content": TRACE, "thinking": TRACE}
    request = {"messages": [message], "tools": [{"function": {"description": TRACE}}]}
    assert [pointer for pointer, _ in leaks(round_trip(), request)] == ["/messages/0/thinking"]


CALL = {"id": "c-1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
REWRITTEN = {**CALL, "function": {"name": "f", "arguments": '{"a":1}'}}
FLAT = {"id": "c-1", "name": "f", "arguments": {"a": 1}}
RECORDED: list[dict[str, Any]] = [
    {"role": "system", "content": "S"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "developer", "content": [{"type": "text", "text": "S"}]}, {**RECORDED[1], "content": ""}],
        [
            RECORDED[0],
            {
                "role": "assistant",
                "tool_calls": [REWRITTEN],
                "name": "x",
            },
        ],
    ],
)
def test_equal_messages_may_be_written_differently(messages: list[dict[str, Any]]) -> None:
    assert different_turn(round_trip(recorded=RECORDED), {"messages": messages}) is None


def test_no_arguments_may_be_written_as_an_empty_text() -> None:
    def called(arguments: Any) -> dict[str, Any]:
        function = {"name": "f", "arguments": arguments}
        return {"messages": [{"role": "assistant", "tool_calls": [{**CALL, "function": function}]}]}

    recorded = round_trip(recorded=called("{}")["messages"])
    assert different_turn(recorded, called("")) is None
    assert different_turn(recorded, called({})) is not None, "an object is not a text"
    assert different_turn(recorded, called('{"a": 1}')) is not None


@pytest.mark.parametrize(
    ("messages", "expected", "actual"),
    [
        (None, 'text of system: "S"', "nothing more"),
        ([*RECORDED, {"role": "user", "content": "Go on"}], "nothing more", 'text of user: "Go on"'),
        ([{"role": "user", "content": "S"}, RECORDED[1]], 'text of system: "S"', 'text of user: "S"'),
        ([{"role": "system", "content": "S!"}, RECORDED[1]], 'text of system: "S"', 'text of system: "S!"'),
        (
            [RECORDED[0], {**RECORDED[1], "tool_calls": [FLAT]}],
            "call of assistant: ",
            'call of assistant: {"id": "c-1"',
        ),
        ([RECORDED[0], {**RECORDED[1], "tool_calls": "f()"}], "call of assistant: ", "nothing more"),
    ],
)
def test_the_first_different_message_is_named(messages: Any, expected: str, actual: str) -> None:
    wrong = different_turn(round_trip(recorded=RECORDED), {"messages": messages})
    assert wrong is not None
    assert wrong[0].startswith(expected)
    assert wrong[1].startswith(actual)


@pytest.mark.parametrize(
    ("actual", "expected", "mismatch"),
    [
        ({"a": 1, "more": 2}, {"a": 1}, None),
        ({"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 3}]}}, ("/a/b/1/c", 3, 2)),
        ({"a": None}, {"a": "x"}, ("/a", "x", None)),
        ([1], [1, 2], ("", [1, 2], [1])),
        ([{"text": "so "}, {"type": "text", "text": "what"}], "so what", None),
        ([{"text": "so "}, {"text": "what"}], [{"type": "text", "text": "so what"}], None),
        (
            [{"text": "so "}, {"text": "now"}],
            [{"type": "text", "text": "so what"}],
            ("", [{"type": "text", "text": "so what"}], [{"text": "so "}, {"text": "now"}]),
        ),
        (True, 1, ("", 1, True)),
    ],
)
def test_the_first_place_that_differs_is_named(actual: Any, expected: Any, mismatch: Any) -> None:
    assert first_mismatch(actual, expected) == mismatch


STORED = {"type": "shell_call", "id": "sh_1", "call_id": "call_1", "action": {"commands": ["ls"]}}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
ASKED = [{"role": "user", "content": "Look"}, SAID, STORED]


def referenced(*references: dict[str, str], **fields: Any) -> dict[str, Any]:
    return {"input": [ASKED[0], *references], **fields}


@pytest.mark.parametrize(
    "request_body",
    [
        referenced({"type": "item_reference", "id": "msg_1"}, {"type": "item_reference", "id": "sh_1"}),
        referenced({"id": "msg_1"}, {"id": "sh_1"}, store=True),
    ],
)
def test_a_reference_stands_for_a_stored_item(request_body: dict[str, Any]) -> None:
    of_responses = replace(round_trip("I look."), wire="responses", recorded={"input": ASKED})
    resolved = with_referenced_items(of_responses, request_body)
    assert different_turn(of_responses, resolved) is None
    assert first_missing_text(of_responses, resolved) is None
    assert first_mismatch(at_pointer(resolved, "/input/2"), STORED) is None


@pytest.mark.parametrize(
    ("request_body", "stored"),
    [
        (referenced({"type": "item_reference", "id": "msg_1"}, {"type": "item_reference", "id": "sh_2"}), {}),
        (referenced({"type": "item_reference", "id": "sh_1"}), {}),
        (
            referenced(
                {"type": "item_reference", "id": "msg_1"}, {"type": "item_reference", "id": "sh_1"}, store=False
            ),
            {},
        ),
        (referenced({"id": "msg_1"}, {"id": "sh_1"}), {"store": False}),
    ],
)
def test_a_reference_to_what_is_not_stored_is_no_item(request_body: dict[str, Any], stored: dict[str, Any]) -> None:
    of_responses = replace(round_trip(), wire="responses", recorded={"input": ASKED, **stored})
    assert different_turn(of_responses, with_referenced_items(of_responses, request_body)) is not None
    asked_otherwise = difference(request_body, {"input": ASKED, **stored}, table()["openai", "responses"])
    assert asked_otherwise is not None


def test_a_request_with_references_asks_the_same() -> None:
    sent = referenced({"type": "item_reference", "id": "msg_1"}, {"type": "item_reference", "id": "sh_1"})
    assert difference(sent, {"input": ASKED}, table()["openai", "responses"]) is None


SIGNED = {"type": "thinking", "thinking": "a", "signature": "s" * 300}
REDACTED = {"type": "redacted_thinking", "data": "d"}


@pytest.mark.parametrize(
    ("expected", "actual", "hint"),
    [
        ([SIGNED, REDACTED], [{**SIGNED, "cache": 1}], f"they differ at item 1: {show(REDACTED)} and null"),
        ("a" * 300 + "b", "a" * 300 + "c", f'they differ at code point 300: ..."{"a" * 20}b" and ..."{"a" * 20}c"'),
        ("a" * 300, None, ""),
        ([REDACTED], [], ""),
    ],
)
def test_a_message_has_the_place_of_a_difference_that_it_would_leave_out(expected: Any, actual: Any, hint: str) -> None:
    assert where_they_differ(expected, actual) == hint
