"""Requests of the wire format `interactions`: their turns, and how a conversation is written as a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages, filled, function_of, instructions_of
from llm_conformance.formats.turns import Turn, objects, plain_text, text_turns


def read(request: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns of a request."""
    yield from text_turns("system", request.get("system_instruction"))
    steps = request.get("input")
    for step in [{"type": "user_input", "content": steps}] if isinstance(steps, str) else objects(steps):
        kind = step.get("type")
        if kind == "function_call":
            yield Turn("assistant", "call", [step.get("name"), step.get("arguments")], step.get("id"))
        elif kind == "function_result":
            yield Turn("tool", "result", plain_text(step.get("result")), step.get("call_id"))
        elif kind in ("user_input", "model_output"):
            yield from text_turns("user" if kind == "user_input" else "assistant", step.get("content"))
        elif kind != "thought":
            yield Turn("assistant", "step", kind)


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the conversation and the tools as fields of a request."""
    kinds = {"user": "user_input", "assistant": "model_output"}
    steps: list[Fields] = []
    for message in messages:
        text = [{"type": "text", "text": message["content"]}]
        if message["role"] == "tool":
            steps.append({"type": "function_result", "call_id": message["tool_call_id"], "result": text})
        elif message["role"] != "system":
            steps.append({"type": kinds[message["role"]], "content": text})
    declared = [{"type": "function", **function_of(tool)} for tool in tools]
    return {"input": steps, **filled(system_instruction=instructions_of(messages), tools=declared)}
