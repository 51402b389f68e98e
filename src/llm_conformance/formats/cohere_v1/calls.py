"""The call that a recorded request of the wire format `cohere_v1` makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.cohere_v1.requests import ROLES
from llm_conformance.formats.recorded_call import CannotAskError, RecordedCall, expect_only, named, without

HISTORY = "chat_history"


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    if request.get("tool_results"):
        raise CannotAskError("a tool result has no id")
    return RecordedCall(tuple(_messages(request)), (), without(request, ("message", HISTORY)))


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in request.get(HISTORY) or ():
        role = ROLES.get(str(message.get("role")).upper())
        if role is None:
            raise CannotAskError(f"a message has the role {named(message.get('role'))}")
        expect_only("a message of the history", message, "role", "message")
        yield {"role": role, "content": message["message"]}
    yield {"role": "user", "content": request["message"]}


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Raise CannotAskError.

    Nobody calls this function, because all earlier answers are texts, and texts stay messages of the call.
    """
    raise CannotAskError("an earlier answer is more than a text")
