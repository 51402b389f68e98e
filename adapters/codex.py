"""Codex for ChatGPT subscribers. Its API is undocumented; https://github.com/openai/codex is the official client."""

from __future__ import annotations

from ._responses import responses_adapter

adapter = responses_adapter("codex")
