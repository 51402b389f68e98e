"""Venice chat: https://docs.venice.ai/api-reference/endpoint/chat/completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._chat import chat_adapter
from ._dialect import Dialect


def _own_error(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the error of a stream. It is in two fields of a chunk."""
    message = chunk.get("error_message")
    return {"type": chunk.get("error_type"), "message": message} if message else None


adapter = chat_adapter("venice", Dialect(reasoning=("reasoning_content",), own_error=_own_error))
