"""MiniMax chat: https://platform.minimax.io/docs/api-reference/text-openai-api."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import Call, Response

from ._chat import Dialect, chat_adapter


def _sent_back(answer: Response, _call: Call) -> Mapping[str, Any]:
    """Return the trace where it came from: the text, between tags as the model writes them, or a field of its own."""
    if not answer.reasoning:
        return {}
    if any(segment.metadata.get("source") == "tag" for segment in answer.segments):
        return {"content": f"<think>\n{answer.reasoning}\n</think>\n\n{answer.message}"}
    return {"reasoning_details": [{"type": "reasoning.text", "text": answer.reasoning}]}


adapter = chat_adapter("minimax", Dialect(reasoning=("reasoning_content",), sent_back=_sent_back))
