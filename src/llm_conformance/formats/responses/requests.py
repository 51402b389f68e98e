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


def with_references(request: Mapping[str, Any], recorded: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request in which the recorded items replace the references to them.

    If OpenAI has stored an answer, a request may have `{"type": "item_reference", "id": ...}` in place of an item. With
    `store: false` nothing is stored, so references are not replaced:
    <https://platform.openai.com/docs/api-reference/responses/create#responses-create-input>.
    """
    if request.get("store") is False or recorded.get("store") is False or not isinstance(request.get("input"), list):
        return request
    stored = {item["id"]: item for item in objects(recorded.get("input")) if isinstance(item.get("id"), str)}
    return {**request, "input": [_referenced(item, stored) for item in request["input"]]}


def _referenced(item: Any, stored: Mapping[str, Any]) -> Any:
    """Return the item that a reference names. Return anything else unchanged. A reference need not state its type."""
    is_reference = isinstance(item, Mapping) and (
        item.get("type") == "item_reference" or (set(item) <= {"id", "type"} and item.get("type") is None)
    )
    return stored.get(item.get("id"), item) if is_reference else item


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request."""
    items = [
        {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
        if message["role"] == "tool"
        else dict(message)
        for message in messages
    ]
    return {"input": items, **filled(tools=[{"type": "function", **function_of(tool)} for tool in tools])}
