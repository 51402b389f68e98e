"""Venice chat: https://docs.venice.ai/api-reference/endpoint/chat/completions."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("venice", Dialect(reasoning=("reasoning_content",)))
