"""Read OpenAI's Responses API through its own SDK.

In a stream, the module reads the whole response in the last event, and not the deltas. If a server leaves the items out
of this response, the module reads the items of `response.output_item.done`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from tools.read_twice.readers.attributes import at

_LAST = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_OWN_TOOLS = ("local_shell_call", "apply_patch_call", "computer_call", "shell_call", "tool_search_call")


class Reader:
    """Read responses. Options: `client`, as `module:Class`."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        module, _, name = options["client"].partition(":")
        make = getattr(importlib.import_module(module), name)
        self._client = make(base_url=base_url, api_key="key", max_retries=0, timeout=30)

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        response = self._client.responses.create(model=model, input="Hi.")
        return _values(response, at(response, "output") or ())

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream. Raises an error if it ends without the whole response."""
        response, done = None, {}
        for event in self._client.responses.create(model=model, input="Hi.", stream=True):
            if event.type == "error":
                raise EndedWithErrorError(str(at(event, "message")))
            if event.type == "response.output_item.done":
                done[event.output_index] = event.item
            if event.type in _LAST:
                response = event.response
        if response is None:
            raise EndedEarlyError("the stream ended without the whole response")
        return _values(response, at(response, "output") or [done[index] for index in sorted(done)])


class EndedEarlyError(Exception):
    """A stream ended without its last event. The SDK itself does not raise."""


class EndedWithErrorError(Exception):
    """A stream ended with an event `error`. The SDK itself does not raise."""


def _values(response: Any, items: Iterable[Any]) -> dict[str, Any]:
    if at(response, "status") == "failed":
        raise EndedWithErrorError(str(at(response, "error", "message")))
    text, refusal, reasoning = "", "", ""
    calls, citations, sealed = [], [], []
    for item in items:
        if item.type == "message":
            for part in item.content:
                if part.type == "output_text":
                    citations += [_citation(each, len(text)) for each in at(part, "annotations") or ()]
                    text += part.text
                elif part.type == "refusal":
                    refusal += part.refusal
        elif item.type == "reasoning":
            sealed.append(at(item, "encrypted_content") or "")
            parts = [*(at(item, "summary") or ()), *(at(item, "content") or ())]
            reasoning += "".join(at(part, "text") or "" for part in parts)
        elif item.type in ("function_call", "custom_tool_call"):
            arguments = item.arguments if item.type == "function_call" else item.input
            calls.append({"id": item.call_id, "name": item.name, "arguments": arguments})
        elif item.type in _OWN_TOOLS and not _is_hosted(item):
            calls.append({"id": item.call_id, "name": item.type.removesuffix("_call"), "arguments": _action(item)})
    return {
        "id": at(response, "id"),
        "created": at(response, "created_at"),
        "model": at(response, "model"),
        "text": text,
        "reasoning": reasoning,
        "refusal": refusal,
        "calls": calls,
        "citations": citations,
        "sealed": sealed,
        "finish": at(response, "incomplete_details", "reason") or at(response, "status"),
        "usage": _usage(at(response, "usage")),
    }


def _is_hosted(item: Any) -> bool:
    if item.type == "tool_search_call":
        return bool(at(item, "execution") != "client")
    return bool(at(item, "environment", "type") == "container_reference")


def _action(item: Any) -> Any:
    for name in ("action", "operation", "actions", "arguments"):
        value = at(item, name)
        if value is not None:
            return value.to_dict() if hasattr(value, "to_dict") else _plain(value)
    return None


def _plain(value: Any) -> Any:
    return (
        [each.to_dict() if hasattr(each, "to_dict") else each for each in value] if isinstance(value, list) else value
    )


def _citation(annotation: Any, before: int) -> dict[str, Any]:
    start, end = at(annotation, "start_index"), at(annotation, "end_index")
    return {
        "start": None if start is None else start + before,
        "end": None if end is None else end + before,
        "type": at(annotation, "type"),
        "url": at(annotation, "url"),
        "title": at(annotation, "title"),
        "file_id": at(annotation, "file_id"),
    }


def _usage(usage: Any) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {
        "prompt_tokens": at(usage, "input_tokens"),
        "completion_tokens": at(usage, "output_tokens"),
        "total_tokens": at(usage, "total_tokens"),
        "cached_tokens": at(usage, "input_tokens_details", "cached_tokens"),
        "cache_write_tokens": at(usage, "input_tokens_details", "cache_write_tokens"),
        "reasoning_tokens": at(usage, "output_tokens_details", "reasoning_tokens"),
    }
