"""Vercel AI Gateway: https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter
from ._details import details_back

adapter = chat_adapter("vercel", Dialect(reasoning=("reasoning",), sent_back=details_back))
