"""The streams of any-llm of 2026-03. Its class for MiniMax, whose reasoning is between tags, asks local servers.

For `python -m peers.rediscovery`; these releases lack what `any-llm/adapter.py` uses of today's release.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import AsyncIterator, Mapping
from typing import Any

from any_llm import AnyLLM


class MiniMax:
    """Message and reasoning of a streamed answer, and nothing else."""

    name = "any-llm"
    version = importlib.metadata.version("any-llm-sdk")
    providers = ("local:chat",)
    capabilities = (
        *("streaming", "reasoning"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )

    async def stream(self, call: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Ask by `acompletion` with `stream`."""
        client = AnyLLM.create("minimax", api_key=call.api_key, api_base=call.base_url)
        said = {"message": "", "reasoning": ""}
        finish = None
        messages = [dict(each) for each in call.messages]
        asked = {**call.params, "model": call.model, "messages": messages, "stream": True}
        async for chunk in await client.acompletion(**asked):
            for choice in chunk.choices:
                finish = choice.finish_reason or finish
                if choice.delta.reasoning:
                    said["reasoning"] += choice.delta.reasoning.content
                    yield {"event_type": "response.reasoning.delta", "delta": choice.delta.reasoning.content}
                if choice.delta.content:
                    said["message"] += choice.delta.content
                    yield {"event_type": "response.output_text.delta", "delta": choice.delta.content}
        about = {"provider": call.provider, "model": call.model, "finish_reason": finish, "usage": None}
        yield {"event_type": "response.completed", "response": {**about, **said}}


conformance_adapter = MiniMax
