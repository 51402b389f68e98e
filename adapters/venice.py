"""Venice chat: https://docs.venice.ai/api-reference/endpoint/chat/completions."""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect

adapter = chat_adapter("venice", Dialect(reasoning=("reasoning_content",)))
