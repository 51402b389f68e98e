"""Perplexity's Sonar chat: https://docs.perplexity.ai/api-reference/chat-completions-post.

Each chunk also repeats the message so far, which the decoder ignores.
"""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect

adapter = chat_adapter("perplexity", Dialect(sources=("search_results", "citations")))
