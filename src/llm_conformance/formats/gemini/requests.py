"""Requests of the wire format `gemini`: their turns, and how a conversation is written as a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages, filled, function_of, instructions_of
from llm_conformance.formats.turns import Turn, objects, text_turns


def read(request: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns of a request."""
    system = request.get("systemInstruction")
    yield from text_turns("system", parts_of(system) if isinstance(system, Mapping) else None)
    for content in objects(request.get("contents")):
        role = {"model": "assistant"}.get(str(content.get("role")), str(content.get("role", "user")))
        for part in parts_of(content):
            call, result = part.get("functionCall"), part.get("functionResponse")
            if isinstance(call, Mapping):
                yield Turn(role, "call", [call.get("name"), call.get("args")])
            elif isinstance(result, Mapping):
                # The sender chooses the keys of the response, and whether the result is a text or a value.
                yield Turn(
                    "tool" if role in ("user", "function") else role,
                    "result",
                    [result.get("name"), isinstance(result.get("response"), Mapping)],
                )
            elif not part.get("thought"):
                yield from text_turns(role, [part])


def parts_of(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parts of a content. Gemini also accepts a single part without a list."""
    parts = content.get("parts")
    return [parts] if isinstance(parts, Mapping) else objects(parts)


def declared_tools(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the tools of a request. Gemini also accepts a single tool without a list."""
    tools = request.get("tools")
    return [tools] if isinstance(tools, Mapping) else objects(tools)


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request."""
    roles = {"user": "user", "assistant": "model"}
    contents = [
        {"role": roles[message["role"]], "parts": [{"text": message["content"]}]}
        for message in messages
        if message["role"] in roles
    ]
    instructions = instructions_of(messages)
    system = {"systemInstruction": {"parts": [{"text": instructions}]}} if instructions else {}
    declared = [{"functionDeclarations": [function_of(tool) for tool in tools]}] if tools else []
    return {"contents": contents, **system, **filled(tools=declared)}
