"""OpenAI chat completions: https://platform.openai.com/docs/api-reference/chat."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("openai", Dialect())
