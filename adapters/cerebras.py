"""Cerebras chat: https://inference-docs.cerebras.ai/api-reference/chat-completions."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("cerebras", Dialect(reasoning=("reasoning", "reasoning_content", "thinking_content")))
