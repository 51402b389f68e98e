"""OpenRouter, a gateway with chat and responses: https://openrouter.ai/docs/api-reference/overview.

A choice may have an `error`.
"""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._details import details_round_trip
from ._dialect import Dialect
from ._responses import responses_adapter

adapters = (
    chat_adapter(
        "openrouter",
        Dialect(
            reasoning=("reasoning",),
            counting=Counting(cache_written=("prompt_tokens_details", "cache_write_tokens")),
            finish={"error": "error"},
            round_trip=details_round_trip,
        ),
    ),
    responses_adapter("openrouter"),
)
