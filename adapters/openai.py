"""OpenAI chat completions: https://platform.openai.com/docs/api-reference/chat."""

from __future__ import annotations

from ._chat import chat_adapter
from ._counting import WITH_CACHE_WRITES
from ._dialect import Dialect

adapter = chat_adapter("openai", Dialect(counting=WITH_CACHE_WRITES))
