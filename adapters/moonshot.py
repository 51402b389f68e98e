"""Moonshot AI (Kimi) chat: https://platform.kimi.ai/docs/api/chat.

A stream has the usage in its last choice.
"""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect, reasoning_with_calls

adapter = chat_adapter(
    "moonshot",
    Dialect(
        reasoning=("reasoning_content",), counting=Counting(cached=("cached_tokens",)), round_trip=reasoning_with_calls
    ),
)
