"""The call that a recorded request of the wire format `cohere` makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.chat import calls as chat
from llm_conformance.formats.recorded_call import (
    CannotAskError,
    EarlierAnswer,
    RecordedCall,
    content_of,
    expect_only,
    named,
)
from llm_conformance.formats.recorded_call import history as history_of

HISTORY = "messages"


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    of_chat = chat.read({**request, "messages": [{"role": "user", "content": "-"}]})
    return RecordedCall(tuple(_messages(request)), of_chat.tools, of_chat.params)


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | EarlierAnswer]:
    for at, message in enumerate(history_of(request, HISTORY)):
        role = message.get("role")
        if role in ("system", "user"):
            expect_only(f"a message of the {role}", message, "role", "content")
            yield {"role": role, "content": content_of(message.get("content"), "text")}
        elif role == "tool":
            yield chat.result(message)
        elif role == "assistant":
            expect_only("an earlier answer", message, "role", "content", "tool_calls", "tool_plan", "citations")
            yield chat.stated(message) or EarlierAnswer(at, [message], chat.plain(message))
        else:
            raise CannotAskError(f"a message has the role {named(role)}")


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer; `items` has only its message. The document does not name the model."""
    (message,) = items
    content = message.get("content") or []
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    tokens = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "00000000-0000-4000-8000-000000000000",
        "finish_reason": "TOOL_CALL" if message.get("tool_calls") else "COMPLETE",
        "message": {**message, "content": blocks},
        "usage": {"billed_units": tokens, "tokens": tokens},
    }
