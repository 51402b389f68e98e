"""OpenAI chat completions and text completions: https://platform.openai.com/docs/api-reference."""

from __future__ import annotations

from ._chat import chat_adapter
from ._completions import OPENAI, completions_adapter
from ._counting import WITH_CACHE_WRITES
from ._dialect import Dialect

adapters = (
    chat_adapter("openai", Dialect(counting=WITH_CACHE_WRITES)),
    completions_adapter("openai:completions", OPENAI),
)
