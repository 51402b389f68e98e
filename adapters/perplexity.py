"""Perplexity's Sonar chat: https://docs.perplexity.ai/api-reference/chat-completions-post."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("perplexity", Dialect(sources=("search_results", "citations")))
