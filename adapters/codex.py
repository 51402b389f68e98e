"""The Codex of ChatGPT subscribers: nobody documents its API; https://github.com/openai/codex is its own client."""

from __future__ import annotations

from ._responses import responses_adapter

adapter = responses_adapter("codex")
