"""The call that a recorded request of the wire format `gemini` makes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats import recorded_call
from llm_conformance.formats.gemini.requests import declared_tools, parts_of
from llm_conformance.formats.recorded_call import (
    CannotAskError,
    EarlierAnswer,
    OpenCalls,
    RecordedCall,
    content_of,
    expect_only,
    has_only,
    named,
    only_text,
    without,
)
from llm_conformance.formats.turns import plain_text

HISTORY = "contents"

_RESULTS = ("result", "output", "content")
"""The usual keys of the result in a function response that has nothing else. The sender chooses the key."""


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    functions: list[Mapping[str, Any]] = []
    others: list[Any] = []
    for tool in declared_tools(request):
        declared, own = recorded_call.split_tools(tool.get("functionDeclarations"), _function)
        functions += declared
        rest = {name: value for name, value in tool.items() if name != "functionDeclarations"}
        rest |= {"functionDeclarations": own} if own else {}
        others += [rest] if rest else []
    system = request.get("systemInstruction") or {}
    parts = [part for part in parts_of(system) if part.get("text") != ""]
    first = [{"role": "system", "content": content_of(parts)}] if parts else []
    params = without(request, ("contents", "systemInstruction", "tools"), tools=others)
    return RecordedCall((*first, *_messages(request)), functions, params)


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | EarlierAnswer]:
    open_calls = OpenCalls()
    for at, content in enumerate(recorded_call.history(request, HISTORY)):
        role, parts = content.get("role") or "user", parts_of(content)
        expect_only(f"a message of the {role}", content, "role", "parts")
        if role in ("user", "function"):
            yield from _of_user(parts, open_calls)
        elif role == "model":
            text = only_text(parts)
            said = {"role": "assistant", "content": text}
            for call in (part["functionCall"] for part in parts if isinstance(part.get("functionCall"), Mapping)):
                open_calls.add(call.get("name"), call.get("id"))
            yield said if text is not None else EarlierAnswer(at, parts, said | {"content": plain_text(parts)})
        else:
            raise CannotAskError(f"a message has the role {named(role)}")


def _of_user(given: Sequence[Mapping[str, Any]], open_calls: OpenCalls) -> Iterator[Mapping[str, Any]]:
    """Yield the user messages and tool messages that one content holds."""
    parts: list[Mapping[str, Any]] = []
    for part in given:
        if "functionCall" in part:
            raise CannotAskError("a message of the user has a function call")
        if part.get("thought"):
            raise CannotAskError("a message of the user has a thought")
        result = part.get("functionResponse")
        if not isinstance(result, Mapping):
            parts.append(part)
            continue
        expect_only("a tool result", part, "functionResponse")
        expect_only("a tool result", result, "id", "name", "response")
        if parts:
            yield {"role": "user", "content": content_of(parts)}
            parts = []
        waiting = open_calls.take(result.get("name"))
        id, text = result.get("id", waiting), _text(result.get("response"))
        yield {"role": "tool", "tool_call_id": id, "name": result.get("name"), "content": text}
    if parts:
        yield {"role": "user", "content": content_of(parts)}


def _text(response: Any) -> str:
    """Return the text of a function response: the text under a usual key if that is all; else everything as JSON."""
    values = list(response.items()) if isinstance(response, Mapping) else []
    if len(values) == 1 and values[0][0] in _RESULTS and isinstance(values[0][1], str):
        return str(values[0][1])
    return json.dumps(response, ensure_ascii=False)


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer with these parts."""
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": list(items)}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": model,
        "responseId": "earlier",
    }


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if not has_only(tool, "name", "description", "parameters", "parametersJsonSchema"):
        return None
    schema = tool.get("parametersJsonSchema") or _in_lower_case(tool.get("parameters"))
    return recorded_call.function(tool.get("name"), tool.get("description"), schema)


def _in_lower_case(schema: Any) -> Any:
    """Return a schema with the types of JSON Schema. Gemini writes types in capitals."""
    if isinstance(schema, list):
        return [_in_lower_case(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    kind = schema.get("type")
    lower = {"type": kind.lower()} if isinstance(kind, str) else {}
    return {name: value if name == "enum" else _in_lower_case(value) for name, value in schema.items()} | lower
