"""Together AI chat: https://docs.together.ai/reference/chat-completions."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter
from ._counting import Counting

adapter = chat_adapter(
    "together",
    Dialect(
        reasoning=("reasoning", "reasoning_content"),
        counting=Counting(cached=("cached_tokens",)),
        finish={"eos": "stop"},
    ),
)
