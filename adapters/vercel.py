"""Vercel AI Gateway: https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions."""

from __future__ import annotations

from ._chat import chat_adapter
from ._details import details_round_trip
from ._dialect import Dialect

adapter = chat_adapter("vercel", Dialect(reasoning=("reasoning",), round_trip=details_round_trip))
