"""DeepSeek chat: https://api-docs.deepseek.com/api/create-chat-completion."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter(
    "deepseek",
    Dialect(
        reasoning=("reasoning_content",),
        cached=("prompt_cache_hit_tokens",),
        finish={"insufficient_system_resource": "error"},
    ),
)
