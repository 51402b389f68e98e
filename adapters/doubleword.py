"""Doubleword chat: https://docs.doubleword.ai/inference-api."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter(
    "doubleword",
    Dialect(
        reasoning=("reasoning_content", "reasoning"),
        cache_written=("prompt_tokens_details", "cache_write_tokens"),
    ),
)
