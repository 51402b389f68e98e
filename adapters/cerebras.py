"""Cerebras chat: https://inference-docs.cerebras.ai/api-reference/chat-completions."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call, Response

from ._chat import chat_adapter
from ._dialect import Dialect


def _round_trip(answer: Response, call: Call) -> Mapping[str, str]:
    """Return the content with the trace before it, between the tags of the model's own template, for GLM."""
    if not answer.reasoning or not call.model.startswith("zai-glm"):
        return {}
    return {"content": f"<think>{answer.reasoning}</think>{answer.message}"}


adapter = chat_adapter(
    "cerebras", Dialect(reasoning=("reasoning", "reasoning_content", "thinking_content"), round_trip=_round_trip)
)
