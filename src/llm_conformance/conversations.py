"""What a request says, whatever its format: who says what, who calls which tool, and what came of it.

Two requests say the same if their turns are equal. How texts are cut into parts and messages makes no difference, nor
does white space in JSON; reasoning is left out, which has a place of its own in each format.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Turn:
    """One thing that is said, called or answered: `what` is a text, or the parts of a call or of its result."""

    role: str
    kind: str
    what: Any

    def __str__(self) -> str:
        """Return it in words, shortened."""
        text = json.dumps(self.what, ensure_ascii=False, default=repr)
        return f"{self.kind} of {self.role}: {text if len(text) <= 300 else f'{text[:300]} ...'}"


def turns(request: Mapping[str, Any], wire: str) -> list[Turn]:
    """Return the turns of a request in one of the formats of `READERS`, joined where one text follows another."""
    found = (each for each in READERS[wire](request) if each.what not in ("", None))
    joined: list[Turn] = []
    for (role, kind), group in itertools.groupby(found, key=lambda each: (each.role, each.kind)):
        if kind == "text":
            joined.append(Turn(role, kind, "".join(str(each.what) for each in group)))
        else:
            joined += group
    return joined


def parsed(value: Any) -> Any:
    """Return what a text of JSON says, and anything else as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list, nothing of what is no list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _texts(role: str, content: Any) -> Iterator[Turn]:
    if isinstance(content, str):
        yield Turn(role, "text", content)
    for part in objects(content):
        if part.get("type") == "thinking":
            continue
        text = part.get("text", part.get("refusal"))
        yield Turn(role, "text", text) if isinstance(text, str) else Turn(role, "part", part.get("type"))


def _text(content: Any) -> str:
    return "".join(str(each.what) for each in _texts("", content))


def _arguments(value: Any) -> Any:
    """Return arguments that were sent as text, apart from those that were sent as a value: formats take one of them."""
    return {"text": parsed(value)} if isinstance(value, str) else value


def _chat(request: Mapping[str, Any]) -> Iterator[Turn]:
    for message in objects(request.get("messages")):
        role = "system" if message.get("role") == "developer" else str(message.get("role"))
        if role == "tool":
            yield Turn(role, "result", [message.get("tool_call_id"), _text(message.get("content"))])
            continue
        yield from _texts(role, message.get("content"))
        for call in objects(message.get("tool_calls")):
            kind = str(call.get("type"))
            made = call.get(kind)
            if isinstance(made, Mapping):
                said = _arguments(made.get("arguments", made.get("input")))
                yield Turn(role, "call", [call.get("id"), kind, made.get("name"), said])
            else:
                yield Turn(role, "call", call)


def _messages(request: Mapping[str, Any]) -> Iterator[Turn]:
    yield from _texts("system", request.get("system"))
    for message in objects(request.get("messages")):
        role, content = str(message.get("role")), message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else objects(content):
            kind = block.get("type")
            if kind == "tool_use":
                yield Turn(role, "call", [block.get("id"), block.get("name"), block.get("input")])
            elif kind == "tool_result":
                speaks = "tool" if role == "user" else role
                yield Turn(speaks, "result", [block.get("tool_use_id"), _text(block.get("content"))])
            elif kind not in ("thinking", "redacted_thinking"):
                yield from _texts(role, [block])


def _generate(request: Mapping[str, Any]) -> Iterator[Turn]:
    system = request.get("systemInstruction")
    yield from _texts("system", system.get("parts") if isinstance(system, Mapping) else None)
    for content in objects(request.get("contents")):
        role = {"model": "assistant"}.get(str(content.get("role")), str(content.get("role", "user")))
        for part in objects(content.get("parts")):
            call, result = part.get("functionCall"), part.get("functionResponse")
            if isinstance(call, Mapping):
                yield Turn(role, "call", [call.get("name"), call.get("args")])
            elif isinstance(result, Mapping):
                # What the result is named inside, and whether it is text or a value, is left to who sends it.
                speaks = "tool" if role in ("user", "function") else role
                yield Turn(speaks, "result", [result.get("name"), isinstance(result.get("response"), Mapping)])
            elif not part.get("thought"):
                yield from _texts(role, [part])


def _responses(request: Mapping[str, Any]) -> Iterator[Turn]:
    yield from _texts("system", request.get("instructions"))
    said = request.get("input")
    for item in [{"role": "user", "content": said}] if isinstance(said, str) else objects(said):
        kind = item.get("type", "message")
        if kind == "message":
            role = str(item.get("role"))
            yield from _texts("system" if role == "developer" else role, item.get("content"))
        elif kind in ("function_call", "custom_tool_call"):
            said_with = _arguments(item.get("arguments", item.get("input")))
            yield Turn("assistant", "call", [item.get("call_id"), kind, item.get("name"), said_with])
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield Turn("tool", "result", [item.get("call_id"), kind, _text(item.get("output"))])
        elif kind != "reasoning":
            yield Turn("assistant", "item", kind)


def _converse(request: Mapping[str, Any]) -> Iterator[Turn]:
    yield from _texts("system", request.get("system"))
    for message in objects(request.get("messages")):
        role = str(message.get("role"))
        for block in objects(message.get("content")):
            made, result = block.get("toolUse"), block.get("toolResult")
            if isinstance(made, Mapping):
                yield Turn(role, "call", [made.get("toolUseId"), made.get("name"), made.get("input")])
            elif isinstance(result, Mapping):
                speaks = "tool" if role == "user" else role
                yield Turn(speaks, "result", [result.get("toolUseId"), _text(result.get("content"))])
            elif "reasoningContent" not in block:
                yield from _texts(role, [block])


def _interactions(request: Mapping[str, Any]) -> Iterator[Turn]:
    yield from _texts("system", request.get("system_instruction"))
    said = request.get("input")
    for step in [{"type": "user_input", "content": said}] if isinstance(said, str) else objects(said):
        kind = step.get("type")
        if kind == "function_call":
            yield Turn("assistant", "call", [step.get("id"), step.get("name"), step.get("arguments")])
        elif kind == "function_result":
            yield Turn("tool", "result", [step.get("call_id"), _text(step.get("result"))])
        elif kind in ("user_input", "model_output"):
            yield from _texts("user" if kind == "user_input" else "assistant", step.get("content"))
        elif kind != "thought":
            yield Turn("assistant", "step", kind)


def _ollama(request: Mapping[str, Any]) -> Iterator[Turn]:
    for message in objects(request.get("messages")):
        role = str(message.get("role"))
        if role == "tool":  # it names the tool; older servers take any name, and calls have no ids
            yield Turn(role, "result", _text(message.get("content")))
            continue
        yield from _texts(role, message.get("content"))
        for call in objects(message.get("tool_calls")):
            made = call.get("function")
            if isinstance(made, Mapping):
                yield Turn(role, "call", [made.get("name"), made.get("arguments")])


READERS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Turn]]] = {
    "chat": _chat,
    "workers-ai": _chat,
    "cohere": _chat,
    "messages": _messages,
    "gemini": _generate,
    "converse": _converse,
    "interactions": _interactions,
    "ollama": _ollama,
    "responses": _responses,
}
"""By the names that the provider table has for formats."""
