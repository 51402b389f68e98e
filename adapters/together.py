"""Together AI chat: https://docs.together.ai/reference/chat-completions."""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect

adapter = chat_adapter(
    "together",
    Dialect(
        reasoning=("reasoning", "reasoning_content"),
        counting=Counting(cached=("cached_tokens",)),
        finish={"eos": "stop"},
    ),
)
