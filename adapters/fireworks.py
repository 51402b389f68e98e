"""Fireworks AI chat: https://docs.fireworks.ai/api-reference/post-chatcompletions."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter, trace_with_calls

adapter = chat_adapter("fireworks", Dialect(reasoning=("reasoning_content",), sent_back=trace_with_calls))
