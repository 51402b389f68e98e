"""Read Bedrock's Converse through botocore, which returns the events of a stream. This module joins their deltas."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

_MESSAGES = [{"role": "user", "content": [{"text": "Hi."}]}]


class Reader:
    """Read answers. No options."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        from botocore.config import Config
        from botocore.session import Session

        session = Session()
        session.set_credentials("key", "key")
        self._client = session.create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=base_url,
            config=Config(retries={"total_max_attempts": 1}, read_timeout=30, connect_timeout=30),
        )

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        answer = self._client.converse(modelId=model, messages=_MESSAGES)
        return _values(answer["output"]["message"]["content"], answer.get("stopReason"), answer.get("usage"))

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        return _folded(self._client.converse_stream(modelId=model, messages=_MESSAGES)["stream"])


def _folded(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    blocks: dict[int, dict[str, Any]] = {}
    finish, usage = None, None
    for event in events:
        if "contentBlockStart" in event:
            start = event["contentBlockStart"]
            if "toolUse" in start.get("start", {}):
                blocks[start["contentBlockIndex"]] = {"toolUse": {**start["start"]["toolUse"], "input": ""}}
        elif "contentBlockDelta" in event:
            delta = event["contentBlockDelta"]
            _add(blocks.setdefault(delta["contentBlockIndex"], {}), delta.get("delta", {}))
        elif "messageStop" in event:
            finish = event["messageStop"].get("stopReason")
        elif "metadata" in event:
            usage = event["metadata"].get("usage")
    return _values([blocks[index] for index in sorted(blocks)], finish, usage)


def _add(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    if "text" in delta:
        block["text"] = block.get("text", "") + delta["text"]
    if "toolUse" in delta and "toolUse" in block:
        block["toolUse"]["input"] += delta["toolUse"]["input"]
    for name, piece in delta.get("reasoningContent", {}).items():
        known = block.setdefault("reasoningContent", {})
        if name == "redactedContent":
            known[name] = known.get(name, b"") + piece
        else:
            text = known.setdefault("reasoningText", {})
            text[name] = text.get(name, "") + piece
    if "citation" in delta:
        block.setdefault("citations", []).append(delta["citation"])


def _values(blocks: Iterable[Mapping[str, Any]], finish: Any, usage: Any) -> dict[str, Any]:
    text, reasoning = "", ""
    calls, citations, sealed = [], [], []
    for block in blocks:
        start = len(text)
        cited = block.get("citationsContent", {})
        text += block.get("text", "") + "".join(each.get("text", "") for each in cited.get("content", ()))
        for each in [*cited.get("citations", ()), *block.get("citations", ())]:
            citations.append({"start": start, "end": len(text), "title": each.get("title")})
        thought = block.get("reasoningContent", {})
        reasoning += thought.get("reasoningText", {}).get("text", "")
        sealed.append(thought.get("reasoningText", {}).get("signature", ""))
        sealed.append(base64.b64encode(thought.get("redactedContent", b"")).decode())
        if "toolUse" in block and block["toolUse"].get("type") != "server_tool_use":
            call = block["toolUse"]
            calls.append({"id": call["toolUseId"], "name": call["name"], "arguments": call["input"]})
    return {
        "text": text,
        "reasoning": reasoning,
        "calls": calls,
        "citations": citations,
        "sealed": sealed,
        "finish": finish,
        "usage": _usage(usage),
    }


def _usage(usage: Any) -> dict[str, int | None] | None:
    """Return the counts. `inputTokens` does not include tokens that were read from the cache or written to it."""
    if usage is None:
        return None
    read, written = usage.get("cacheReadInputTokens"), usage.get("cacheWriteInputTokens")
    return {
        "prompt_tokens": usage["inputTokens"] + (read or 0) + (written or 0),
        "completion_tokens": usage.get("outputTokens"),
        "total_tokens": usage.get("totalTokens"),
        "cached_tokens": read,
        "cache_write_tokens": written,
    }
