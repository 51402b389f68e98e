"""Requests of the wire format `chat`: their turns, and how a conversation is written as a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages, filled
from llm_conformance.formats.turns import Turn, objects, plain_text, read_arguments, text_turns


def read(request: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns of a request."""
    for message in objects(request.get("messages")):
        role = "system" if message.get("role") == "developer" else str(message.get("role"))
        if role == "tool":
            yield Turn(role, "result", plain_text(message.get("content")), message.get("tool_call_id"))
            continue
        yield from text_turns(role, message.get("content"))
        for call in objects(message.get("tool_calls")):
            kind = str(call.get("type"))
            function = call.get(kind)
            if isinstance(function, Mapping):
                arguments = read_arguments(function.get("arguments", function.get("input")))
                yield Turn(role, "call", [function.get("name"), arguments, kind], call.get("id"))
            else:
                yield Turn(role, "call", call)


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request."""
    return {"messages": list(map(_message, messages)), **filled(tools=list(tools))}


def _message(message: Mapping[str, Any]) -> Fields:
    """Return a message. A tool result names its call only by the id."""
    return {key: value for key, value in message.items() if key != "name" or message["role"] != "tool"}
