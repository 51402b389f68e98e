"""Avian chat: https://avian.io/docs."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter(
    "avian",
    Dialect(reasoning=("reasoning_content",), cache_written=("prompt_tokens_details", "cache_write_tokens")),
)
