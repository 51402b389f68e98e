"""Requests of the wire format `responses`: their turns, and how a conversation is written as a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages, filled, function_of
from llm_conformance.formats.turns import Turn, objects, plain_text, read_arguments, text_turns


def read(request: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns of a request."""
    yield from text_turns("system", request.get("instructions"))
    items = request.get("input")
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else objects(items):
        kind = item.get("type", "message")
        if kind == "message":
            role = str(item.get("role"))
            yield from text_turns("system" if role == "developer" else role, item.get("content"))
        elif kind in ("function_call", "custom_tool_call"):
            arguments = read_arguments(item.get("arguments", item.get("input")))
            yield Turn("assistant", "call", [item.get("name"), arguments, kind], item.get("call_id"))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield Turn("tool", "result", [plain_text(item.get("output")), kind], item.get("call_id"))
        elif kind != "reasoning":
            yield Turn("assistant", "item", kind)


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request."""
    items = [
        {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
        if message["role"] == "tool"
        else dict(message)
        for message in messages
    ]
    return {"input": items, **filled(tools=[{"type": "function", **function_of(tool)} for tool in tools])}
