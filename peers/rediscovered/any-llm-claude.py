"""any-llm of 2026-08 with Claude: the text of an answer and why it ended.

For `python -m peers.rediscovery`; these releases lack what `any-llm/adapter.py` uses of today's release.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import AsyncIterator, Mapping
from typing import Any

from any_llm import AnyLLM


class Claude:
    """Message and finish reason, and nothing else."""

    name = "any-llm"
    version = importlib.metadata.version("any-llm-sdk")
    providers = ("anthropic:messages",)
    capabilities = ("streaming", "error_details")

    async def complete(self, call: Any) -> Mapping[str, Any]:
        """Ask by `acompletion`."""
        choice = (await _asked(call)).choices[0]
        return _answer(call, choice.message.content or "", choice.finish_reason)

    async def stream(self, call: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Ask by `acompletion` with `stream`."""
        message, finish = "", None
        async for chunk in await _asked(call, stream=True):
            for choice in chunk.choices:
                finish = choice.finish_reason or finish
                if choice.delta.content:
                    message += choice.delta.content
                    yield {"event_type": "response.output_text.delta", "delta": choice.delta.content}
        yield {"event_type": "response.completed", "response": _answer(call, message, finish)}


def _asked(call: Any, **options: Any) -> Any:
    client = AnyLLM.create("anthropic", api_key=call.api_key, api_base=call.base_url, max_retries=0)
    messages = [dict(each) for each in call.messages]
    return client.acompletion(**{**call.params, "model": call.model, "messages": messages, **options})


def _answer(call: Any, message: str, finish: str | None) -> Mapping[str, Any]:
    about = {"provider": call.provider, "model": call.model, "usage": None}
    return {**about, "message": message, "finish_reason": finish}


conformance_adapter = Claude
