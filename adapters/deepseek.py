"""DeepSeek's chat, responses and messages: https://api-docs.deepseek.com/api/create-chat-completion."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call, Response

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect, reasoning_with_calls
from ._responses import responses_adapter
from .anthropic import messages_adapter


def _round_trip(response: Response, call: Call) -> Mapping[str, str]:
    """Return the reasoning. With tools in thinking mode, every earlier answer needs the field, even if it is empty."""
    thinks = (call.params.get("thinking") or {}).get("type") != "disabled"
    if call.tools and thinks:
        return {"reasoning_content": response.reasoning or ""}
    return reasoning_with_calls(response, call)


_chat = chat_adapter(
    "deepseek",
    Dialect(
        reasoning=("reasoning_content",),
        counting=Counting(cached=("prompt_cache_hit_tokens",)),
        finish={"insufficient_system_resource": "error", "aborted": "error"},
        round_trip=_round_trip,
    ),
)

adapters = (_chat, responses_adapter("deepseek"), messages_adapter("deepseek"))
