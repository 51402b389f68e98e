"""Read Cohere's chat through its own SDK. The SDK has no helper for streams, so this module joins their events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.read_twice.readers.attributes import at, word

_MESSAGES = [{"role": "user", "content": "Hi."}]
_ELSEWHERE = ("PLAN", "THINKING_CONTENT")
"""Types of citations whose offsets count from the start of the plan or of the thinking."""


class Reader:
    """Read chats. No options."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        import cohere

        self._client = cohere.ClientV2(
            api_key="key", base_url=base_url, timeout=30, log_warning_experimental_features=False
        )

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        answer = self._client.chat(model=model, messages=_MESSAGES, request_options={"max_retries": 0})
        blocks = dict(enumerate(at(answer, "message", "content") or ()))
        texts = {number: at(block, "text") or "" for number, block in blocks.items() if block.type == "text"}
        thinking = "".join(at(block, "thinking") or "" for block in blocks.values())
        return {
            "id": at(answer, "id"),
            "text": "".join(texts.values()),
            "reasoning": (at(answer, "message", "tool_plan") or "") + thinking,
            "calls": [_call(each) for each in at(answer, "message", "tool_calls") or ()],
            "citations": [_citation(each, texts) for each in at(answer, "message", "citations") or ()],
            "finish": word(at(answer, "finish_reason")),
            "usage": _usage(at(answer, "usage")),
        }

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        return _folded(self._client.chat_stream(model=model, messages=_MESSAGES, request_options={"max_retries": 0}))


class EndedWithErrorError(Exception):
    """The last event of a stream has an error. The SDK itself does not raise."""


def _folded(events: Iterable[Any]) -> dict[str, Any]:
    values: dict[str, Any] = {"id": None, "reasoning": "", "finish": None, "usage": None}
    texts: dict[int, str] = {}
    calls: dict[int, dict[str, Any]] = {}
    citations = []
    for event in events:
        message = at(event, "delta", "message")
        if event.type == "message-start":
            values["id"] = at(event, "id")
        elif event.type in ("content-start", "content-delta"):
            texts[event.index] = texts.get(event.index, "") + (at(message, "content", "text") or "")
            values["reasoning"] += at(message, "content", "thinking") or ""
        elif event.type == "tool-plan-delta":
            values["reasoning"] += at(message, "tool_plan") or ""
        elif event.type == "tool-call-start":
            calls[event.index] = _call(message.tool_calls)
        elif event.type == "tool-call-delta":
            calls[event.index]["arguments"] += at(message, "tool_calls", "function", "arguments") or ""
        elif event.type == "citation-start":
            citations.append(message.citations)
        elif event.type == "message-end":
            if error := at(event, "delta", "error"):
                raise EndedWithErrorError(error)
            values["finish"] = word(at(event, "delta", "finish_reason"))
            values["usage"] = _usage(at(event, "delta", "usage"))
    text = "".join(texts.values())
    spans = [_citation(each, texts) for each in citations]
    return {**values, "text": text, "calls": list(calls.values()), "citations": spans}


def _call(call: Any) -> dict[str, Any]:
    name, arguments = at(call, "function", "name"), at(call, "function", "arguments")
    return {"id": at(call, "id"), "name": name, "arguments": arguments or ""}


def _citation(citation: Any, texts: Mapping[int, str]) -> dict[str, Any]:
    """Return a citation. Its offsets count from the start of the block that its index names."""
    if at(citation, "type") in _ELSEWHERE:
        return {"start": None, "end": None, "text": at(citation, "text")}
    before = sum(len(text) for index, text in texts.items() if index < (at(citation, "content_index") or 0))
    return {"start": citation.start + before, "end": citation.end + before, "text": at(citation, "text")}


def _usage(usage: Any) -> dict[str, float | None] | None:
    if usage is None:
        return None
    return {
        "prompt_tokens": at(usage, "tokens", "input_tokens"),
        "completion_tokens": at(usage, "tokens", "output_tokens"),
        "cached_tokens": at(usage, "cached_tokens"),
    }
