"""OpenAI responses: https://platform.openai.com/docs/api-reference/responses."""

from __future__ import annotations

from ._responses import responses_adapter

adapter = responses_adapter("openai")
