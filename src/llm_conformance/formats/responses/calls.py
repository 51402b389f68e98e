"""The call that a recorded request of the wire format `responses` makes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats import recorded_call
from llm_conformance.formats.recorded_call import (
    CannotAskError,
    EarlierAnswer,
    RecordedCall,
    content_of,
    expect_only,
    has_only,
    named,
    only_text,
    split_tools,
    without,
)
from llm_conformance.formats.turns import plain_text

HISTORY = "input"

_CALLS = {"function_call": ("function", "arguments"), "custom_tool_call": ("custom", "input")}
_RESULTS = ("function_call_output", "custom_tool_call_output")
_OF_ANSWERS = (
    *_CALLS,
    *("reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"),
    *("mcp_call", "mcp_list_tools", "compaction", "tool_search_call", "tool_search_output", "program"),
    *("apply_patch_call", "shell_call", "local_shell_call", "computer_call"),
)
"""The types of items that a model sends.

Consecutive items of these types, and messages of the model, are one answer.
"""
_IDS = ("id", "status")
"""Fields that the server adds to items, and that a request need not have."""


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    tools, others = split_tools(request.get("tools"), _function)
    given = request.get("input")
    if isinstance(given, str):
        messages: list[Mapping[str, Any] | EarlierAnswer] = [{"role": "user", "content": given}]
    else:
        messages = list(_messages(recorded_call.history(request, HISTORY)))
    # `instructions` is no message: it holds for one request, even if `previous_response_id` continues the messages.
    return RecordedCall(messages, tools, without(request, ("input", "tools"), tools=others))


def _messages(items: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any] | EarlierAnswer]:
    at = 0
    for is_answer, run in itertools.groupby(items, key=_is_of_answer):
        group = list(run)
        if is_answer:
            yield _stated(group) or EarlierAnswer(at, group, _plain(group))
        else:
            yield from map(_message, group)
        at += len(group)


def _is_of_answer(item: Mapping[str, Any]) -> bool:
    # Either the provider or the client runs a search for tools. In both cases the model makes the call.
    is_result = item.get("type") == "tool_search_output" and item.get("execution") == "client"
    return item.get("role") == "assistant" or (item.get("type") in _OF_ANSWERS and not is_result)


def _message(item: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = item.get("type", "message")
    if kind in _RESULTS:
        expect_only("a tool result", item, "type", "call_id", "output", *_IDS)
        given = item.get("output")
        text = content_of(given, "input_text") if given else ""
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": text}
    if kind != "message":
        raise CannotAskError(f"the input has an item of the type {named(kind)}")
    role = {"developer": "system"}.get(str(item.get("role")), item.get("role"))
    if role not in ("system", "user"):
        raise CannotAskError(f"a message has the role {named(role)}")
    expect_only(f"a message of the {role}", item, "type", "role", "content", *_IDS)
    return {"role": role, "content": content_of(item.get("content"), "input_text")}


def _stated(items: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return an answer in OpenAI's form, with one text and then calls; None if the answer has anything else."""
    is_text = items[0].get("role") == "assistant"
    calls = items[1:] if is_text else items
    if not all(_is_plain_call(each) for each in calls):
        return None
    message = _plain(items)
    if not is_text:
        return message
    content = items[0].get("content")
    text = content if isinstance(content, str) else only_text(content or (), "output_text")
    if text is None or not has_only(items[0], "type", "role", "content", *_IDS):
        return None
    return {**message, "content": text}


def _is_plain_call(item: Mapping[str, Any]) -> bool:
    _, field = _CALLS.get(str(item.get("type")), ("", ""))
    return bool(field) and has_only(item, "type", "call_id", "name", field, *_IDS)


def _plain(items: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    calls = []
    for item in items:
        kind, field = _CALLS.get(str(item.get("type")), ("", ""))
        if kind:
            made = {"name": item.get("name"), field: item.get(field)}
            calls.append({"id": item.get("call_id"), "type": kind, kind: made})
    text = "".join(plain_text(item.get("content")) for item in items if item.get("role") == "assistant")
    return {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer with these items."""
    return {
        "id": "resp_earlier",
        "object": "response",
        "created_at": 1700000000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [_item(number, item) for number, item in enumerate(items)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
    }


def _item(number: int, item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an item of a request in the form of an answer: with an id, a status and a list of parts."""
    if item.get("role") != "assistant":
        return {"id": f"item_{number}", **item}
    content = item.get("content")
    parts = [{"type": "output_text", "text": content, "annotations": []}] if isinstance(content, str) else content
    return {"id": f"msg_{number}", "type": "message", "status": "completed", **item, "content": parts}


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if tool.get("type") != "function" or not has_only(tool, "type", "name", "description", "parameters", "strict"):
        return None
    more = {"strict": tool["strict"]} if "strict" in tool else {}
    return recorded_call.function(tool.get("name"), tool.get("description"), tool.get("parameters"), **more)
