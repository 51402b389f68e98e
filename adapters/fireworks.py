"""Fireworks AI chat: https://docs.fireworks.ai/api-reference/post-chatcompletions."""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect, reasoning_with_calls

adapter = chat_adapter("fireworks", Dialect(reasoning=("reasoning_content",), round_trip=reasoning_with_calls))
