"""The call that a recorded request of the wire format `ollama` makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.chat import calls as chat
from llm_conformance.formats.recorded_call import (
    CannotAskError,
    EarlierAnswer,
    OpenCalls,
    RecordedCall,
    expect_only,
    has_only,
    history,
    named,
)
from llm_conformance.formats.turns import objects

HISTORY = "messages"


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    of_chat = chat.read({**request, "messages": [{"role": "user", "content": "-"}]})
    return RecordedCall(tuple(_messages(request)), of_chat.tools, of_chat.params)


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | EarlierAnswer]:
    open_calls = OpenCalls()
    for at, message in enumerate(history(request, HISTORY)):
        role, content = message.get("role"), message.get("content") or ""
        if role in ("system", "user"):
            expect_only(f"a message of the {role}", message, "role", "content")
            yield {"role": role, "content": content}
        elif role == "tool":
            expect_only("a tool result", message, "role", "content", "tool_name", "tool_call_id")
            name = message.get("tool_name")
            id = message.get("tool_call_id", open_calls.take(name))
            yield {"role": "tool", "tool_call_id": id, "content": content, **({"name": name} if name else {})}
        elif role == "assistant":
            expect_only("an earlier answer", message, "role", "content", "thinking", "tool_calls")
            for call in objects(message.get("tool_calls")):
                function = call.get("function")
                open_calls.add(function.get("name") if isinstance(function, Mapping) else None, call.get("id"))
            said = {"role": "assistant", "content": content}
            yield said if has_only(message, "role", "content") else EarlierAnswer(at, [message], said)
        else:
            raise CannotAskError(f"a message has the role {named(role)}")


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer; `items` has only its message."""
    (message,) = items
    return {
        "model": model,
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"content": "", **message},
        "done": True,
        "done_reason": "stop",
        "total_duration": 1,
        "prompt_eval_count": 1,
        "eval_count": 1,
    }
