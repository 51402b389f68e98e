"""Hugging Face router, chat: https://huggingface.co/docs/inference-providers/tasks/chat-completion.

It passes on what the provider behind it sends, including Groq's `x_groq`.
"""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect

adapter = chat_adapter("huggingface", Dialect(reasoning=("reasoning_content", "reasoning"), extension="x_groq"))
