"""Requests of the wire format `cohere_v1`: the last message has a field of its own, the others are a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages, description_of, filled, function_of
from llm_conformance.formats.turns import Turn, objects, text_turns

ROLES: Mapping[str, str] = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system"}
"""Maps the roles of the history to those of the contract."""
_SENT = {role: name for name, role in ROLES.items()}


def read(request: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns of a request."""
    yield from text_turns("system", request.get("preamble"))
    for message in objects(request.get("chat_history")):
        role = ROLES.get(str(message.get("role")).upper())
        yield from text_turns(role, message.get("message")) if role else [Turn("tool", "item", message)]
    yield from text_turns("user", request.get("message"))


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request, which has no place for results of calls."""
    *earlier, last = messages
    history = [{"role": _SENT[each["role"]], "message": each["content"]} for each in earlier]
    declared = [
        {
            "name": tool["name"],
            **description_of(tool),
            "parameter_definitions": dict(_definitions(tool.get("parameters", {}))),
        }
        for tool in map(function_of, tools)
    ]
    return {"message": last["content"], **filled(chat_history=history, tools=declared)}


def _definitions(schema: Mapping[str, Any]) -> Iterator[tuple[str, Fields]]:
    for name, value in schema.get("properties", {}).items():
        yield name, {"type": value.get("type", "str"), "required": name in schema.get("required", ())}
