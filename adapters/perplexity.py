"""Perplexity's Sonar chat: https://docs.perplexity.ai/api-reference/chat-completions-post.

Each chunk also repeats the message so far; the decoder ignores this. Reasoning is a list of steps with thoughts.
"""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect

adapter = chat_adapter(
    "perplexity",
    Dialect(
        reasoning=("reasoning_steps",),
        counting=Counting(reasoned=("reasoning_tokens",)),
        sources=("search_results", "citations"),
    ),
)
