"""Cerebras chat: https://inference-docs.cerebras.ai/api-reference/chat-completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import Call, Response

from ._chat import chat_adapter
from ._dialect import Dialect


def _round_trip(response: Response, call: Call) -> Mapping[str, str]:
    """For GLM, return the content with the reasoning before it, in think tags as in GLM's template."""
    if not response.reasoning or not call.model.startswith("zai-glm"):
        return {}
    return {"content": f"<think>{response.reasoning}</think>{response.message}"}


def _error(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the error of a chunk, with the status beside it."""
    return {**chunk["error"], "status_code": chunk.get("status_code")} if chunk.get("error") else None


adapter = chat_adapter(
    "cerebras",
    Dialect(reasoning=("reasoning", "reasoning_content", "thinking_content"), round_trip=_round_trip, own_error=_error),
)
