"""Facts of Anthropic's messages that once were wrong or unknown here, on bytes written for this."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapters import anthropic
from llm_conformance.contract import Response
from llm_conformance.scenarios.scenario import Scenario
from tests import calls
from tests.bare_cassettes import EVENTS, scenario, write

REQUEST: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "max_tokens": 1024,
    "messages": [{"role": "user", "content": "Wie hoch steht die Schleuse?"}],
}
CALLER = {"type": "code_execution_20260120", "tool_id": "srvtoolu_01Aa"}
CALL = {"type": "tool_use", "id": "toolu_01Bb", "name": "pegel", "input": {"ort": "Brunsbüttel"}, "caller": CALLER}
MESSAGE: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "id": "msg_011CdAa",
    "type": "message",
    "role": "assistant",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "stop_details": None,
    "usage": {"input_tokens": 40, "output_tokens": 1},
}


def recording(directory: Path, *events: Mapping[str, Any], **request: Any) -> Scenario:
    """Return a bare recording of a streamed answer."""
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    asked = {"uri": "https://api.anthropic.com/v1/messages", "body": json.dumps(REQUEST | {"stream": True} | request)}
    return scenario(write(directory, body, request=asked, response=EVENTS))


def block(index: int, start: Mapping[str, Any], *deltas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a content block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, text: str) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})


def end(reason: str = "end_turn", **usage: Any) -> list[dict[str, Any]]:
    counts = {"input_tokens": 40, "output_tokens": 9} | usage
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": counts},
        {"type": "message_stop"},
    ]


def start(**changes: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": MESSAGE | changes}


def test_a_call_that_comes_whole_in_message_start_is_a_tool_call(tmp_path: Path) -> None:
    message = start(content=[CALL], stop_reason="tool_use")
    expected = recording(tmp_path, message, {"type": "message_stop"}).expected["stream"]
    assert [call.name for call in expected.tool_calls] == ["pegel"]
    assert expected.finish_reasons == ("tool_calls",)
    answer = calls.completed(calls.messages(stream=True), [calls.sse(message, {"type": "message_stop"})])
    assert [(call.id, call.arguments) for call in answer.tool_calls] == [("toolu_01Bb", '{"ort": "Brunsbüttel"}')]


def test_the_model_behind_a_fallback_block_is_the_one_that_answered(tmp_path: Path) -> None:
    hop = {"type": "fallback", "from": {"model": "claude-fable-5"}, "to": {"model": "claude-opus-4-8"}}
    events = [start(model="claude-fable-5"), *text(0, "Der "), *block(1, hop), *text(2, "Pegel."), *end()]
    expected = recording(tmp_path, *events).expected["stream"]
    assert (expected.model, expected.message) == ("claude-opus-4-8", "Der Pegel.")


def test_the_tokens_of_a_summary_and_of_an_advisor_are_not_in_the_sum(tmp_path: Path) -> None:
    iterations = [
        {"type": "compaction", "input_tokens": 60000, "output_tokens": 300},
        {"type": "advisor_message", "model": "claude-opus-4-8", "input_tokens": 900, "output_tokens": 20},
        {"type": "message", "input_tokens": 40, "output_tokens": 9},
    ]
    events = [
        start(usage={"input_tokens": 60000, "output_tokens": 1}),
        *text(0, "3,10 m."),
        *end(iterations=iterations),
    ]
    usage = recording(tmp_path, *events).expected["stream"].usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (40, 9)


def test_a_call_of_an_mcp_server_is_a_segment(tmp_path: Path) -> None:
    used = {"type": "mcp_tool_use", "id": "mcptoolu_01Cc", "name": "pegel", "input": {}, "server_name": "tiden"}
    pieces = ({"type": "input_json_delta", "partial_json": piece} for piece in ("", '{"ort": ', '"Husum"}'))
    events = [start(), *block(0, used, *pieces), *text(1, "2,80 m."), *end()]
    assert recording(tmp_path, *events).expected["stream"].tool_calls == ()
    answer = calls.completed(calls.messages(stream=True), [calls.sse(*events)])
    called = answer.segments[0]
    assert (called.type, called.content) == ("tool_call", '{"ort": "Husum"}')
    sent = sent_back(answer)
    assert sent["messages"][1]["content"][0] == used | {"input": {"ort": "Husum"}}


def test_a_summary_that_failed_goes_back_as_null() -> None:
    events = [
        start(),
        *block(0, {"type": "compaction", "content": None, "encrypted_content": None}),
        *text(1, "Ja."),
        *end(),
    ]
    answer = calls.completed(calls.messages(stream=True), [calls.sse(*events)])
    assert sent_back(answer)["messages"][1]["content"][0]["content"] is None


def sent_back(answer: Response) -> dict[str, Any]:
    """Return the request that has an earlier answer."""
    first = calls.messages()
    later = {"role": "user", "content": "Und morgen?"}
    return anthropic.request(dataclasses.replace(first, messages=(first.messages[1], answer, later)))
