"""The call that a recorded request of the wire format `chat` makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.recorded_call import (
    CannotAskError,
    EarlierAnswer,
    Fields,
    RecordedCall,
    content_of,
    expect_only,
    has_only,
    history,
    named,
    split_tools,
    without,
)
from llm_conformance.formats.turns import objects, plain_text

HISTORY = "messages"

_OF_ANSWERS = ("reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "reasoning_opaque")
_MARKS = ("annotations", "refusal", "extra_content")


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    tools, others = split_tools(request.get("tools"), _function)
    params = without(request, ("messages", "tools"), tools=others)
    return RecordedCall(tuple(_messages(request)), tools, params)


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | EarlierAnswer]:
    for at, message in enumerate(history(request, HISTORY)):
        role = {"developer": "system"}.get(str(message.get("role")), message.get("role"))
        if role in ("system", "user"):
            expect_only(f"a message of the {role}", message, "role", "content", "name")
            yield {**filled(message), "role": role, "content": content_of(message.get("content"), "text")}
        elif role == "tool":
            yield result(message)
        elif role == "assistant":
            expect_only("an earlier answer", message, "role", "content", "tool_calls", *_OF_ANSWERS, *_MARKS)
            yield stated(message) or EarlierAnswer(at, [message], plain(message))
        else:
            raise CannotAskError(f"a message has the role {named(role)}")


def filled(message: Mapping[str, Any]) -> Fields:
    """Return the fields of a message that have a value."""
    return {name: value for name, value in message.items() if value not in (None, [])}


def result(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool message."""
    expect_only("a tool result", message, "role", "content", "tool_call_id", "name")
    return {"tool_call_id": None, **message, "content": message.get("content") or ""}


def stated(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return an earlier answer in OpenAI's form, with text and calls; None if the answer has anything else."""
    content, calls = message.get("content"), objects(message.get("tool_calls"))
    is_text = content is None or isinstance(content, str) or all(part.get("type") == "text" for part in content)
    if not is_text or not has_only(message, "role", "content", "tool_calls") or not all(map(_is_plain_call, calls)):
        return None
    if not content and not calls:
        raise CannotAskError("an earlier answer is empty")
    text = None if content is None else content_of(content, "text") if content else content
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def _is_plain_call(call: Mapping[str, Any]) -> bool:
    kind = str(call.get("type"))
    is_known = kind in ("function", "custom") and isinstance(call.get(kind), Mapping)
    return is_known and has_only(call, "id", "type", "index", kind)


def plain(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the text and the calls of an earlier answer."""
    calls = [call for call in objects(message.get("tool_calls")) if _is_plain_call(call)]
    text = plain_text(message.get("content"))
    return {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer; `items` has only its message."""
    (message,) = items
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-earlier",
        "object": "chat.completion",
        "created": 1700000000,
        "model": model,
        "choices": [{"index": 0, "message": {"content": None, **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    declared = tool.get("function")
    is_function = tool.get("type") == "function" and has_only(tool, "type", "function")
    return declared if is_function and isinstance(declared, Mapping) else None
