"""DeepSeek's chat and responses: https://api-docs.deepseek.com/api/create-chat-completion."""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect, reasoning_with_calls
from ._responses import responses_adapter

_chat = chat_adapter(
    "deepseek",
    Dialect(
        reasoning=("reasoning_content",),
        counting=Counting(cached=("prompt_cache_hit_tokens",)),
        finish={"insufficient_system_resource": "error"},
        round_trip=reasoning_with_calls,
    ),
)

adapters = (_chat, responses_adapter("deepseek"))
