"""Cloudflare Workers AI, OpenAI-compatible: https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter("cloudflare", Dialect(reasoning=("reasoning_content", "reasoning")))
