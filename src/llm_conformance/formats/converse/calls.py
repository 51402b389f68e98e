"""The call that a recorded request of the wire format `converse` makes."""

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
    config = request.get("toolConfig") or {}
    tools, others = split_tools(config.get("tools"), _function)
    system = request.get("system")
    first = [{"role": "system", "content": content_of(system)}] if system else []
    params = without(
        request, ("messages", "system", "toolConfig"), toolConfig=without(config, ("tools",), tools=others)
    )
    return RecordedCall((*first, *_messages(request)), tools, params)


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | EarlierAnswer]:
    for at, message in enumerate(recorded_call.history(request, HISTORY)):
        role, blocks = message.get("role"), objects(message.get("content"))
        expect_only(f"a message of the {role}", message, "role", "content")
        if role == "user":
            yield from _of_user(blocks)
        elif role == "assistant":
            text = only_text(blocks)
            said = {"role": "assistant", "content": text}
            yield said if text is not None else EarlierAnswer(at, blocks, said | {"content": plain_text(blocks)})
        else:
            raise CannotAskError(f"a message has the role {named(role)}")


def _of_user(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the user messages and tool messages that one recorded message holds."""
    parts: list[Mapping[str, Any]] = []
    for block in blocks:
        result = block.get("toolResult")
        if not isinstance(result, Mapping):
            parts.append(block)
            continue
        if result.get("status") == "error":
            raise CannotAskError("a tool result is marked as an error")
        expect_only("a tool result", result, "toolUseId", "content", "status")
        if parts:
            yield {"role": "user", "content": content_of(parts)}
            parts = []
        yield {"role": "tool", "tool_call_id": result.get("toolUseId"), "content": content_of(result.get("content"))}
    if parts:
        yield {"role": "user", "content": content_of(parts)}


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer with these blocks; it does not name the model."""
    if any("cachePoint" in block for block in items):
        raise CannotAskError("an earlier answer has a cache point")
    calls = any("toolUse" in block for block in items)
    return {
        "output": {"message": {"role": "assistant", "content": list(items)}},
        "stopReason": "tool_use" if calls else "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    }


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    spec = tool.get("toolSpec")
    schema = spec.get("inputSchema") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(schema, Mapping) or not has_only(tool, "toolSpec"):
        return None
    if not has_only(spec, "name", "description", "inputSchema") or not has_only(schema, "json"):
        return None
    return recorded_call.function(spec.get("name"), spec.get("description"), schema.get("json"))
