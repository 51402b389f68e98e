"""Avian chat: https://avian.io/docs."""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect

adapter = chat_adapter(
    "avian",
    Dialect(
        reasoning=("reasoning_content",),
        counting=Counting(cache_written=("prompt_tokens_details", "cache_write_tokens")),
    ),
)
