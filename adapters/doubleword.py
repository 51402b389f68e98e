"""Doubleword chat: https://docs.doubleword.ai/inference-api."""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect

adapter = chat_adapter(
    "doubleword",
    Dialect(
        reasoning=("reasoning_content", "reasoning"),
        counting=Counting(cache_written=("prompt_tokens_details", "cache_write_tokens")),
    ),
)
