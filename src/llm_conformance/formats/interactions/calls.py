"""The call that a recorded request of the wire format `interactions` makes."""

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
from llm_conformance.formats.turns import objects, plain_text

HISTORY = "input"

_FROM_USER = ("user_input", "function_result")


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    tools, others = split_tools(request.get("tools"), _function)
    system = request.get("system_instruction")
    first = [{"role": "system", "content": content_of(system, "text")}] if system else []
    given = request.get("input")
    if isinstance(given, str):
        messages: list[Mapping[str, Any] | EarlierAnswer] = [{"role": "user", "content": given}]
    else:
        messages = list(_messages(recorded_call.history(request, HISTORY)))
    params = without(request, ("input", "system_instruction", "tools"), tools=others)
    return RecordedCall((*first, *messages), tools, params)


def _messages(steps: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any] | EarlierAnswer]:
    at = 0
    for is_users, run in itertools.groupby(steps, key=lambda step: step.get("type") in _FROM_USER):
        group = list(run)
        yield from map(_message, group) if is_users else (_answered(at, group),)
        at += len(group)


def _message(step: Mapping[str, Any]) -> Mapping[str, Any]:
    if step["type"] == "user_input":
        expect_only("a message of the user", step, "type", "content")
        return {"role": "user", "content": content_of(step.get("content"), "text")}
    expect_only("a tool result", step, "type", "call_id", "name", "result")
    result = step.get("result")
    text = content_of(result, "text") if result else ""
    name = {"name": step["name"]} if step.get("name") else {}
    return {"role": "tool", "tool_call_id": step.get("call_id"), "content": text, **name}


def _answered(at: int, steps: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | EarlierAnswer:
    unknown = next((step.get("type") for step in steps if not _is_of_answer(str(step.get("type")))), None)
    if unknown is not None:
        raise CannotAskError(f"the input has a step of the type {named(unknown)}")
    only = steps[0] if len(steps) == 1 and steps[0].get("type") == "model_output" else {}
    text = only_text(objects(only.get("content")), "text") if has_only(only, "type", "content") else None
    if text is not None:
        return {"role": "assistant", "content": text}
    said = "".join(plain_text(step.get("content")) for step in steps if step.get("type") == "model_output")
    return EarlierAnswer(at, steps, {"role": "assistant", "content": said})


def _is_of_answer(kind: str) -> bool:
    return kind in ("model_output", "thought") or kind.endswith(("_call", "_result"))


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer with these steps."""
    calls = any(step.get("type") == "function_call" for step in items)
    return {
        "id": "interaction-earlier",
        "object": "interaction",
        "created": "2026-01-01T00:00:00Z",
        "status": "requires_action" if calls else "completed",
        "model": model,
        "steps": list(items),
        "usage": {"total_input_tokens": 1, "total_output_tokens": 1, "total_tokens": 2},
    }


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if tool.get("type") != "function" or not has_only(tool, "type", "name", "description", "parameters"):
        return None
    return recorded_call.function(tool.get("name"), tool.get("description"), tool.get("parameters"))
