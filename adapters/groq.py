"""Groq chat: https://console.groq.com/docs/api-reference#chat."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("groq", Dialect(reasoning=("reasoning",)))
