"""Cloudflare Workers AI, OpenAI-compatible: https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/."""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect

# https://developers.cloudflare.com/workers-ai/platform/errors/
ERROR_CODES = {
    "3036": 429,  # the account's share is used up
    "3040": 429,  # out of capacity
}

DIALECT = Dialect(reasoning=("reasoning_content", "reasoning"), error_codes=ERROR_CODES)

adapter = chat_adapter("cloudflare", DIALECT)
