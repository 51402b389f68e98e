"""Requests of the wire format `converse`: their turns, and how a conversation is written as a request."""

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
        role = str(message.get("role"))
        for block in objects(message.get("content")):
            call, result = block.get("toolUse"), block.get("toolResult")
            if isinstance(call, Mapping):
                yield Turn(role, "call", [call.get("name"), call.get("input")], call.get("toolUseId"))
            elif isinstance(result, Mapping):
                yield Turn(
                    "tool" if role == "user" else role,
                    "result",
                    plain_text(result.get("content")),
                    result.get("toolUseId"),
                )
            elif "reasoningContent" not in block:
                cited = block.get("citationsContent")
                yield from text_turns(role, cited.get("content") if isinstance(cited, Mapping) else [block])


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request."""
    turns: list[Fields] = []
    for is_results, run in groupby(messages, key=lambda message: message["role"] == "tool"):
        if is_results:  # roles have to alternate, so all results are in one message
            turns.append({"role": "user", "content": [_result(message) for message in run]})
        else:
            said = (message for message in run if message["role"] != "system")
            turns += ({"role": message["role"], "content": _blocks(message["content"])} for message in said)
    instructions = instructions_of(messages)
    declared = [
        {
            "toolSpec": {
                "name": tool["name"],
                "inputSchema": {"json": tool.get("parameters", {})},
                **description_of(tool),
            }
        }
        for tool in map(function_of, tools)
    ]
    system = [{"text": instructions}] if instructions else []
    return {"messages": turns, **filled(system=system, toolConfig={"tools": declared} if declared else {})}


def _blocks(content: str | list[Any]) -> list[Any]:
    """Return the content of a message as blocks. A list is already in the provider's form."""
    return content if isinstance(content, list) else [{"text": content}]


def _result(message: Mapping[str, Any]) -> Fields:
    return {"toolResult": {"toolUseId": message["tool_call_id"], "content": [{"text": message["content"]}]}}
