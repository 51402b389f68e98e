"""The call that a recorded request of the wire format `workers_ai` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llm_conformance.formats.chat import calls as chat
from llm_conformance.formats.chat.calls import HISTORY, read

__all__ = ["HISTORY", "answer", "read"]


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Return the document of an answer, a chat completion in an envelope; `items` has only its message."""
    return {"result": chat.answer(items, model), "success": True, "errors": [], "messages": []}
