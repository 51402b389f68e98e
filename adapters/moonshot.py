"""Moonshot AI (Kimi) chat: https://platform.kimi.ai/docs/api/chat."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter, trace_with_calls
from ._counting import Counting

adapter = chat_adapter(
    "moonshot",
    Dialect(reasoning=("reasoning_content",), counting=Counting(cached=("cached_tokens",)), sent_back=trace_with_calls),
)
