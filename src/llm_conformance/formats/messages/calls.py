"""The call that a recorded request of the wire format `messages` makes."""

from __future__ import annotations

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

HISTORY = "messages"


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    tools, others = split_tools(request.get("tools"), _function)
    system = request.get("system")
    first = [{"role": "system", "content": content_of(system, "text")}] if system else []
    # Clouds demand the version of the format in the body. The adapter adds it, as it adds the header for other APIs.
    params = without(request, ("messages", "system", "tools", "anthropic_version"), tools=others)
    return RecordedCall((*first, *_messages(request)), tools, params)


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | EarlierAnswer]:
    for at, message in enumerate(recorded_call.history(request, HISTORY)):
        role, content = message.get("role"), message.get("content")
        expect_only(f"a message of the {role}", message, "role", "content")
        if role == "user":
            yield from _of_user(content)
        elif role == "assistant":
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
            text = only_text(blocks, "text")
            said = {"role": "assistant", "content": text}
            yield said if text is not None else EarlierAnswer(at, blocks, said | {"content": plain_text(blocks)})
        else:
            raise CannotAskError(f"a message has the role {named(role)}")


def _of_user(content: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the user messages and tool messages that one recorded message holds."""
    parts: list[Mapping[str, Any]] = []
    for block in objects(content):
        if block.get("type") != "tool_result":
            parts.append(block)
            continue
        expect_only("a tool result", block, "type", "tool_use_id", "content")
        if parts:
            yield {"role": "user", "content": content_of(parts, "text")}
            parts = []
        given = block.get("content")
        text = content_of(given, "text") if given else ""
        yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": text}
    if parts or isinstance(content, str):
        yield {"role": "user", "content": content_of(parts or content, "text")}


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer with these blocks."""
    calls = any(block.get("type") == "tool_use" for block in items)
    for block in items:
        if block.get("cache_control"):
            raise CannotAskError("a block of an earlier answer has the field 'cache_control'")
    return {
        "id": "msg_earlier",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(items),
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    is_function = tool.get("type") in (None, "custom") and "input_schema" in tool
    if not is_function or not has_only(tool, "type", "name", "description", "input_schema"):
        return None
    return recorded_call.function(tool.get("name"), tool.get("description"), tool["input_schema"])
