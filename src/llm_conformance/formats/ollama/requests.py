"""Requests of the wire format `ollama`: their turns, and how a conversation is written as a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages
from llm_conformance.formats.chat import requests as chat
from llm_conformance.formats.media import medium_of
from llm_conformance.formats.turns import Turn, objects, plain_text, text_turns


def read(request: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns of a request."""
    for message in objects(request.get("messages")):
        role = str(message.get("role"))
        if role == "tool":  # calls may have no ids, and older servers accept any tool name
            yield Turn(role, "result", plain_text(message.get("content")))
            continue
        yield from text_turns(role, message.get("content"))
        for image in message.get("images") or ():
            yield Turn(role, *(medium_of({"type": "image", "data": image}) or ("part", "image")))
        for call in objects(message.get("tool_calls")):
            function = call.get("function")
            if isinstance(function, Mapping):
                yield Turn(role, "call", [function.get("name"), function.get("arguments")])


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request. A result names the tool and has no id."""
    return {**chat.write(messages, tools), "messages": [_result(each) or dict(each) for each in messages]}


def _result(message: Mapping[str, Any]) -> Fields | None:
    if message["role"] != "tool":
        return None
    named = {"tool_name": message["name"]} if "name" in message else {}
    return {"role": "tool", **named, "content": message["content"]}
