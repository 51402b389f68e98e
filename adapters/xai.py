"""xAI (Grok) chat and responses: https://docs.x.ai/developers/rest-api-reference/inference/chat."""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect
from ._responses import responses_adapter

adapters = (
    chat_adapter(
        "xai",
        Dialect(
            reasoning=("reasoning_content",),
            counting=Counting(reasoning_apart=True),
        ),
    ),
    responses_adapter("xai"),
)
