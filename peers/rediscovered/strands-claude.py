"""Strands of 2026-07: Claude's reasoning, with hosted tools beside those of the caller.

For `python -m peers.rediscovery`. In these releases the tools of `params` replace the others, so all tools go there.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

from strands.event_loop.streaming import stream_messages
from strands.models.anthropic import AnthropicModel

FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


class Adapter:
    """Text, reasoning with its signatures and calls of Claude."""

    name = "strands"
    version = version("strands-agents")
    providers = ("anthropic:messages",)
    capabilities = ("streaming", "reasoning", "segments", "tools", "error_details")

    async def stream(self, call: Any) -> Any:
        """Yield the whole answer at the end of the stream: its pieces are not needed here."""
        params = {**call.params, "tools": [*call.params.get("tools", ()), *map(_tool, call.tools)]}
        client = {"base_url": call.base_url, "api_key": call.api_key, "timeout": call.timeout_s, "max_retries": 0}
        tokens = params.pop("max_tokens")
        model = AnthropicModel(client_args=client, model_id=call.model, max_tokens=tokens, params=params)
        messages = [{"role": each["role"], "content": [{"text": each["content"]}]} for each in call.messages]
        async for event in stream_messages(model, None, messages, []):
            if "stop" in event:
                stop, turn = event["stop"][:2]
                yield {"event_type": "response.completed", "response": _answer(call, stop, turn)}


def _tool(tool: Any) -> dict[str, Any]:
    function = tool["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _answer(call: Any, stop: str, turn: Any) -> dict[str, Any]:
    segments, calls = [], []
    for block in turn["content"]:
        if "text" in block:
            segments.append({"type": "text", "content": block["text"]})
        elif "reasoningContent" in block:
            said = block["reasoningContent"]["reasoningText"]
            sealed = {"signature": said["signature"]} if "signature" in said else {}
            segments.append({"type": "reasoning", "content": said["text"], "metadata": sealed})
        elif "toolUse" in block:
            use = block["toolUse"]
            calls.append({"id": use["toolUseId"], "name": use["name"], "arguments": json.dumps(use["input"])})
            segments.append({"type": "tool_call", "content": calls[-1]["arguments"]})
    return {
        "provider": call.provider,
        "model": call.model,
        "message": "".join(each["content"] for each in segments if each["type"] == "text"),
        "reasoning": "".join(each["content"] for each in segments if each["type"] == "reasoning") or None,
        "segments": segments,
        "tool_calls": calls,
        "finish_reason": FINISH.get(stop),
        "usage": None,
    }


conformance_adapter = Adapter
