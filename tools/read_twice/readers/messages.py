"""Read Anthropic's messages through its own SDK, which joins the events of a stream itself (`MessageStream`)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from tools.read_twice.readers.attributes import added, at

_CALL: dict[str, Any] = {"max_tokens": 1024, "messages": [{"role": "user", "content": "Hi."}]}


class Reader:
    """Read messages. Options: `client`, as `module:Class`, and `beta`; with the value `yes`, the types of the beta."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        module, _, name = options["client"].partition(":")
        make = getattr(importlib.import_module(module), name)
        if name == "AnthropicBedrock":
            keys = {"aws_access_key": "key", "aws_secret_key": "key", "aws_region": "us-east-1"}
        else:
            keys = {"api_key": "key"}
        self._client = make(base_url=base_url, max_retries=0, timeout=30, **keys)
        self._messages = self._client.beta.messages if options.get("beta") == "yes" else self._client.messages

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        return _values(self._messages.create(model=model, **_CALL))

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        if not hasattr(self._messages, "stream"):
            return _values(_folded(self._messages.create(model=model, stream=True, **_CALL)))
        with self._messages.stream(model=model, **_CALL) as stream:
            return _values(stream.get_final_message())


def _folded(events: Any) -> Any:
    """Return the message that the SDK's own function makes of the events."""
    from anthropic.lib.streaming._messages import accumulate_event

    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for event in events:
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers, request_headers={})
    return snapshot


def _values(message: Any) -> dict[str, Any]:
    text, reasoning = "", ""
    calls, citations, sealed = [], [], []
    for block in at(message, "content") or ():
        if block.type == "text":
            start = len(text)
            text += block.text
            citations += [_citation(each, start, len(text)) for each in at(block, "citations") or ()]
        elif block.type == "thinking":
            reasoning += block.thinking
            sealed.append(at(block, "signature") or "")
        elif block.type == "redacted_thinking":
            sealed.append(block.data)
        elif block.type == "tool_use":
            calls.append({"id": block.id, "name": block.name, "arguments": block.input})
    return {
        "id": at(message, "id"),
        "model": at(message, "model"),
        "text": text,
        "reasoning": reasoning,
        "calls": calls,
        "citations": citations,
        "sealed": sealed,
        "finish": at(message, "stop_reason"),
        "usage": _usage(at(message, "usage")),
    }


def _citation(citation: Any, start: int, end: int) -> dict[str, Any]:
    """Return a citation. It is for the whole block."""
    names = ("type", "cited_text", "document_index", "document_title", "url", "title", "source")
    return {"start": start, "end": end, **{name: at(citation, name) for name in names}}


def _usage(usage: Any) -> dict[str, int | None] | None:
    """Return the counts. `input_tokens` does not include tokens that were read from the cache or written to it."""
    if usage is None:
        return None
    read, written = at(usage, "cache_read_input_tokens"), at(usage, "cache_creation_input_tokens")
    return {
        "prompt_tokens": added(at(usage, "input_tokens"), read, written),
        "completion_tokens": at(usage, "output_tokens"),
        "cached_tokens": read,
        "cache_write_tokens": written,
        "reasoning_tokens": at(usage, "output_tokens_details", "thinking_tokens"),
    }
