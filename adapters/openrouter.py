"""OpenRouter, a gateway with two APIs: https://openrouter.ai/docs/api-reference/overview."""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._details import details_back
from ._dialect import Dialect
from ._responses import responses_adapter

adapters = (
    chat_adapter(
        "openrouter",
        Dialect(
            reasoning=("reasoning",),
            counting=Counting(cache_written=("prompt_tokens_details", "cache_write_tokens")),
            finish={"error": "error"},
            round_trip=details_back,
        ),
    ),
    responses_adapter("openrouter"),
)
