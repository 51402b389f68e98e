"""Z.AI (GLM) chat: https://docs.z.ai/api-reference/llm/chat-completion."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call, Response

from ._chat import chat_adapter
from ._dialect import Dialect


def _round_trip(response: Response, call: Call) -> Mapping[str, str]:
    """Return the reasoning if the API demands it: with tool calls, and in every turn of preserved thinking."""
    wanted = response.reasoning and (response.tool_calls or _preserves(call))
    return {"reasoning_content": response.reasoning or ""} if wanted else {}


def _preserves(call: Call) -> bool:
    return (call.params.get("thinking") or {}).get("clear_thinking") is False


adapter = chat_adapter(
    "zai",
    Dialect(
        reasoning=("reasoning_content",),
        finish={
            "sensitive": "content_filter",
            "model_context_window_exceeded": "length",
            "network_error": "error",
        },
        round_trip=_round_trip,
    ),
)
