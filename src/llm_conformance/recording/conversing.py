"""A call in the provider's own form: what a draft's messages and tools, which have OpenAI's, come to on the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llm_conformance.providers import Provider
from llm_conformance.truths import Mode

Fields = dict[str, Any]
Messages = Sequence[Mapping[str, Any]]


def request_of(row: Provider, call: Mapping[str, Any], mode: Mode) -> Fields:
    """Return the body of a request.

    Raises KeyError for a wire format that nobody has written a form for.
    """
    said = _FORMS[row.wire](call["messages"], call.get("tools", ()))
    params = call.get("params", {}) | (call.get("stream_params", {}) if mode == "stream" else {})
    model = {} if row.names_model_in_path else {"model": call["model"]}
    streams = row.stream_field(mode == "stream")
    return {**model, **said, **params, **streams}


def _chat(messages: Messages, tools: Messages) -> Fields:
    return {"messages": list(messages), **_given(tools=list(tools))}


def _messages(messages: Messages, tools: Messages) -> Fields:
    said: list[Fields] = []
    for message in messages:
        if message["role"] == "tool":
            result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            said.append({"role": "user", "content": [result]})
        elif message["role"] != "system":
            said.append(dict(message))
    declared = [_function(tool) for tool in tools]
    schemas = [{"name": it["name"], "input_schema": it.get("parameters", {}), **_description(it)} for it in declared]
    return {"messages": said, **_given(system=_instructions(messages), tools=schemas)}


def _responses(messages: Messages, tools: Messages) -> Fields:
    said = [
        {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
        if message["role"] == "tool"
        else dict(message)
        for message in messages
    ]
    return {"input": said, **_given(tools=[{"type": "function", **_function(tool)} for tool in tools])}


def _gemini(messages: Messages, tools: Messages) -> Fields:
    roles = {"user": "user", "assistant": "model"}
    said = [
        {"role": roles[message["role"]], "parts": [{"text": message["content"]}]}
        for message in messages
        if message["role"] in roles
    ]
    instructions = _instructions(messages)
    system = {"systemInstruction": {"parts": [{"text": instructions}]}} if instructions else {}
    declared = [{"functionDeclarations": [_function(tool) for tool in tools]}] if tools else []
    return {"contents": said, **system, **_given(tools=declared)}


def _interactions(messages: Messages, tools: Messages) -> Fields:
    kinds = {"user": "user_input", "assistant": "model_output"}
    said: list[Fields] = []
    for message in messages:
        text = [{"type": "text", "text": message["content"]}]
        if message["role"] == "tool":
            said.append({"type": "function_result", "call_id": message["tool_call_id"], "result": text})
        elif message["role"] != "system":
            said.append({"type": kinds[message["role"]], "content": text})
    declared = [{"type": "function", **_function(tool)} for tool in tools]
    return {"input": said, **_given(system_instruction=_instructions(messages), tools=declared)}


def _converse(messages: Messages, tools: Messages) -> Fields:
    said: list[Fields] = []
    for message in messages:
        text = [{"text": message["content"]}]
        if message["role"] == "tool":
            result = {"toolResult": {"toolUseId": message["tool_call_id"], "content": text}}
            said.append({"role": "user", "content": [result]})
        elif message["role"] != "system":
            said.append({"role": message["role"], "content": text})
    instructions = _instructions(messages)
    declared = [
        {"toolSpec": {"name": it["name"], "inputSchema": {"json": it.get("parameters", {})}, **_description(it)}}
        for it in map(_function, tools)
    ]
    system = [{"text": instructions}] if instructions else []
    return {"messages": said, **_given(system=system, toolConfig={"tools": declared} if declared else {})}


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function: Mapping[str, Any] = tool["function"]
    return function


def _description(function: Mapping[str, Any]) -> Fields:
    return _given(description=function.get("description"))


def _instructions(messages: Messages) -> str:
    return "\n\n".join(message["content"] for message in messages if message["role"] == "system")


def _given(**fields: Any) -> Fields:
    return {name: value for name, value in fields.items() if value}


_FORMS: Mapping[str, Callable[[Messages, Messages], Fields]] = {
    "chat": _chat,
    "cohere": _chat,
    "ollama": _chat,
    "workers-ai": _chat,
    "messages": _messages,
    "responses": _responses,
    "gemini": _gemini,
    "converse": _converse,
    "interactions": _interactions,
}
