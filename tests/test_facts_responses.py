"""Facts about the Responses API that bare recordings are judged by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.scenarios.expected import Expected
from tests import inline, miniature
from tests.bare_cassettes import EVENTS, scenario, write
from tools import documents

ASKED = {
    "uri": "https://api.openai.com/v1/responses",
    "body": json.dumps({"model": "gpt-5.5", "input": "Hi"}),
}
ACTION = {"commands": ["ls"], "max_output_length": None, "timeout_ms": None}
SHELL = {"id": "sh_1", "type": "shell_call", "status": "completed", "action": ACTION, "call_id": "call_1"}


def answer(*items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a response with these output items."""
    head = {"id": "resp_1", "object": "response", "created_at": 1785300000, "status": "completed", "model": "gpt-5.5"}
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
    return {**head, "error": None, "incomplete_details": None, "output": list(items), "usage": usage, **fields}


def in_events(*items: dict[str, Any]) -> str:
    """Return a stream that announces and finishes each item, and ends with the whole response."""
    events: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        events += [
            {"type": f"response.output_item.{state}", "output_index": index, "item": item}
            for state in ("added", "done")
        ]
    events.append({"type": "response.completed", "response": answer(*items)})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def both(directory: Path, *items: dict[str, Any]) -> tuple[Expected, Expected]:
    """Return what is expected of a bare recording with these items, plain and streamed."""
    plain = write(directory, answer(*items), "plain", request=ASKED)
    asked = {**ASKED, "body": json.dumps({"model": "gpt-5.5", "input": "Hi", "stream": True})}
    streamed = write(directory, in_events(*items), "streamed", request=asked, response=EVENTS)
    return scenario(plain).expected["json"], scenario(streamed).expected["stream"]


@pytest.mark.parametrize(
    ("item", "names", "arguments"),
    [
        (SHELL, ("shell", "shell_call"), ACTION),
        (SHELL | {"environment": None}, ("shell", "shell_call"), ACTION),
        (SHELL | {"environment": {"type": "local"}}, ("shell", "shell_call"), ACTION),
        (
            {"id": "lsh_1", "type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}},
            ("local_shell", "local_shell_call"),
            {"type": "exec", "command": ["ls"]},
        ),
        (
            {"id": "apc_1", "type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}},
            ("apply_patch", "apply_patch_call"),
            {"type": "delete_file", "path": "a"},
        ),
        (
            {"id": "tsc_1", "type": "tool_search_call", "execution": "client", "arguments": {"goal": "g"}},
            ("tool_search", "tool_search_call"),
            {"goal": "g"},
        ),
        (
            {"id": "cu_1", "type": "computer_call", "actions": [{"type": "wait"}]},
            ("computer", "computer_call", "computer_use_preview", "computer_use"),
            [{"type": "wait"}],
        ),
    ],
)
def test_items_that_the_client_runs_are_tool_calls(
    tmp_path: Path, item: dict[str, Any], names: tuple[str, ...], arguments: Any
) -> None:
    for expected in both(tmp_path, {"call_id": "call_1", "status": "completed", **item}):
        (call,) = expected.tool_calls
        assert call.id == "call_1"
        assert (call.name, *call.other_names) == names
        assert json.loads(call.arguments) == arguments
        assert expected.finish_reasons == ("stop", "tool_calls")


@pytest.mark.parametrize(
    "item",
    [
        SHELL | {"environment": {"type": "container_reference", "container_id": "cntr_1"}},
        {"id": "tsc_1", "type": "tool_search_call", "execution": "server", "arguments": {}, "call_id": None},
        {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "a"}},
    ],
)
def test_items_that_the_provider_runs_are_not(tmp_path: Path, item: dict[str, Any]) -> None:
    for expected in both(tmp_path, item):
        assert expected.tool_calls == ()
        assert expected.finish_reasons == ("stop",)


def test_an_approval_may_be_a_tool_call_or_not(tmp_path: Path) -> None:
    asked = {"id": "mcpr_1", "type": "mcp_approval_request", "name": "book", "arguments": "{}", "server_label": "f"}
    for expected in both(tmp_path, asked):
        assert "tool_calls" not in expected.stated
        assert expected.finish_reasons == ("stop", "tool_calls")


@pytest.mark.parametrize(("reason", "finish"), [("max_messages", "length"), ("steered", None)])
def test_reasons_of_an_incomplete_response(tmp_path: Path, reason: str, finish: str | None) -> None:
    text = {"type": "output_text", "text": "Half", "annotations": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "incomplete", "content": [text]}
    body = answer(message, status="incomplete", incomplete_details={"reason": reason})
    expected = scenario(write(tmp_path, body, request=ASKED)).expected["json"]
    assert expected.finish_reasons == (finish,)
    assert expected.raw_finish_reasons == (reason, "incomplete")


@pytest.mark.parametrize(("whole", "claimed"), [("Thinking.", True), ("**Plan**\n\nThinking.", False)])
def test_reasoning_whose_pieces_are_not_the_whole_is_not_expected(tmp_path: Path, whole: str, claimed: bool) -> None:
    """In some recordings, the finished text of a summary has a prefix that the pieces lack: either is right."""
    place = {"output_index": 0, "item_id": "rs_1", "summary_index": 0}
    item = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": whole}]}
    events: list[dict[str, Any]] = [
        {"type": "response.reasoning_summary_text.delta", "delta": "Thinking.", **place},
        {"type": "response.reasoning_summary_text.done", "text": whole, **place},
        {"type": "response.completed", "response": answer(item)},
    ]
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    asked = {**ASKED, "body": json.dumps({"model": "gpt-5.5", "input": "Hi", "stream": True})}
    expected = scenario(write(tmp_path, body, request=asked, response=EVENTS)).expected["stream"]
    assert ("reasoning" in expected.stated) is claimed


def test_libraries_name_a_shell_and_wrap_its_action_in_different_ways(pytester: pytest.Pytester) -> None:
    """On the wire, the call has no name, and its action is an object. A client needs only its id and the action."""
    write(pytester.path / "more", answer(SHELL), request=ASKED)
    pytester.makepyfile(
        shells="""
        import json
        from dataclasses import replace

        from adapters import ReferenceAdapters

        class Wrapped(ReferenceAdapters):
            def parse(self, http, call):
                return self.other(super().parse(http, call))

            def other(self, response):
                (made,) = response.tool_calls
                action = json.dumps({"action": json.loads(made.arguments)})
                return replace(response, tool_calls=(replace(made, name="shell_call", arguments=action),))

        class Hosted(Wrapped):
            def other(self, response):
                return replace(response, tool_calls=())

        class Emptied(Wrapped):
            def other(self, response):
                return replace(response, tool_calls=(replace(response.tool_calls[0], arguments="{}"),))
        """
    )
    passes = {name: judged(pytester, f"shells:{name}") == 0 for name in ("Wrapped", "Hosted", "Emptied")}
    assert passes == {"Wrapped": True, "Hosted": False, "Emptied": False}


def judged(pytester: pytest.Pytester, adapter: str) -> int:
    """Judge the tool calls that `parse` returns for the recording, and return the exit code."""
    result = inline.run(
        pytester,
        str(miniature.RULES),
        f"--adapter={adapter}",
        f"--conformance-cassettes={pytester.path / 'more'}",
        "--conformance-scenario=openai/one*",
        "--conformance-method=parse",
        "--conformance-rule=TOOL-1",
        "-q",
    )
    return int(result.ret)


def test_annotations_of_a_part_are_added_in_order() -> None:
    numbers: dict[tuple[str, str], list[int]] = {}
    for each in documents.of_generated(["openai:responses"], 60):
        if each.kind == "event" and each.value["type"] == "response.output_text.annotation.added":
            numbers.setdefault((each.scenario, each.value["item_id"]), []).append(each.value["annotation_index"])
    assert any(len(of_one) > 1 for of_one in numbers.values())
    assert all(of_one == list(range(len(of_one))) for of_one in numbers.values())


def test_the_code_of_a_code_interpreter_comes_in_events_of_its_own() -> None:
    calls: dict[tuple[str, str], list[Any]] = {}
    for each in documents.of_generated(["openai:responses"], 60):
        if each.kind == "event":
            item = each.value.get("item", {})
            id = each.value.get("item_id", item.get("id", ""))
            if id.startswith("ci_"):
                said = item.get("code", each.value.get("delta", each.value.get("code")))
                calls.setdefault((each.scenario, id), []).append((each.value["type"].removeprefix("response."), said))
    assert calls
    for events in calls.values():
        assert events == [
            ("output_item.added", ""),
            ("code_interpreter_call.in_progress", None),
            ("code_interpreter_call_code.delta", "print(1)"),
            ("code_interpreter_call_code.done", "print(1)"),
            ("code_interpreter_call.interpreting", None),
            ("code_interpreter_call.completed", None),
            ("output_item.done", "print(1)"),
        ]
