"""Read Ollama's chat through its own SDK. The SDK has no helper for streams, so this module joins their pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.read_twice.readers.attributes import at

_MESSAGES = [{"role": "user", "content": "Hi."}]


class Reader:
    """Read chats. No options."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        import ollama

        self._client = ollama.Client(host=base_url, timeout=30)

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        return _values([self._client.chat(model=model, messages=_MESSAGES)])

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        return _values(self._client.chat(model=model, messages=_MESSAGES, stream=True))


def _values(answers: Iterable[Any]) -> dict[str, Any]:
    text, reasoning = "", ""
    calls: list[dict[str, Any]] = []
    last: Any = None
    for last in answers:
        text += at(last, "message", "content") or ""
        reasoning += at(last, "message", "thinking") or ""
        for call in at(last, "message", "tool_calls") or ():
            calls.append({"name": call.function.name, "arguments": dict(call.function.arguments)})
    prompt, completion = at(last, "prompt_eval_count"), at(last, "eval_count")
    return {
        "created": at(last, "created_at"),
        "model": at(last, "model"),
        "text": text,
        "reasoning": reasoning,
        "calls": calls,
        "finish": at(last, "done_reason"),
        "usage": None if completion is None else {"prompt_tokens": prompt, "completion_tokens": completion},
    }
