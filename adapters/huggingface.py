"""Hugging Face router, chat: https://huggingface.co/docs/inference-providers/tasks/chat-completion."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("huggingface", Dialect(reasoning=("reasoning_content", "reasoning")))
