"""Requests of the wire format `messages`: their turns, and how a conversation is written as a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages, description_of, filled, function_of, instructions_of
from llm_conformance.formats.turns import Turn, objects, plain_text, text_turns


def read(request: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns of a request."""
    yield from text_turns("system", request.get("system"))
    for message in objects(request.get("messages")):
        role, content = str(message.get("role")), message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else objects(content):
            kind = block.get("type")
            if kind == "tool_use":
                yield Turn(role, "call", [block.get("name"), block.get("input")], block.get("id"))
            elif kind == "tool_result":
                yield Turn(
                    "tool" if role == "user" else role,
                    "result",
                    plain_text(block.get("content")),
                    block.get("tool_use_id"),
                )
            elif kind not in ("thinking", "redacted_thinking"):
                yield from text_turns(role, [block])


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request."""
    turns: list[Fields] = []
    for is_results, run in groupby(messages, key=lambda message: message["role"] == "tool"):
        if is_results:
            turns.append({"role": "user", "content": [_result(message) for message in run]})
        else:
            turns += (dict(message) for message in run if message["role"] != "system")
    declared = [
        {"name": tool["name"], "input_schema": tool.get("parameters", {}), **description_of(tool)}
        for tool in map(function_of, tools)
    ]
    return {"messages": turns, **filled(system=instructions_of(messages), tools=declared)}


def _result(message: Mapping[str, Any]) -> Fields:
    return {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
