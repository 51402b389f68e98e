"""Read Mistral's chat through its own SDK. The SDK has no helper for streams, so this module joins their deltas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.read_twice.readers.attributes import at, word

_MESSAGES = [{"role": "user", "content": "Hi."}]


class Reader:
    """Read chats. No options."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        from mistralai.client import Mistral

        self._client = Mistral(api_key="key", server_url=base_url, timeout_ms=30_000)

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        answer = self._client.chat.complete(model=model, messages=_MESSAGES)
        return _values([answer], "message")

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        return _values((event.data for event in self._client.chat.stream(model=model, messages=_MESSAGES)), "delta")


def _values(answers: Iterable[Any], part: str) -> dict[str, Any]:
    values: dict[str, Any] = {"id": None, "created": None, "model": None, "finish": None, "usage": None}
    text, reasoning = "", ""
    calls: dict[Any, dict[str, Any]] = {}
    citations = []
    for answer in answers:
        for name in ("id", "created", "model"):
            values[name] = values[name] or at(answer, name)
        values["usage"] = _usage(at(answer, "usage")) or values["usage"]
        for choice in (each for each in answer.choices if not each.index):
            values["finish"] = word(at(choice, "finish_reason")) or values["finish"]
            content = at(choice, part, "content") or ""
            for chunk in [content] if isinstance(content, str) else content:
                text += chunk if isinstance(chunk, str) else at(chunk, "text") or ""
                for thought in () if isinstance(chunk, str) else at(chunk, "thinking") or ():
                    reasoning += at(thought, "text") or ""
                    citations += [] if at(thought, "type") == "text" else [_reference(thought)]
                if not isinstance(chunk, str) and "reference" in chunk.type:
                    citations.append(_reference(chunk))
            for number, call in enumerate(at(choice, part, "tool_calls") or ()):
                _add_call(calls, call, number)
    return {**values, "text": text, "reasoning": reasoning, "calls": list(calls.values()), "citations": citations}


def _add_call(calls: dict[Any, dict[str, Any]], call: Any, number: int) -> None:
    """Add a call, or a piece of a call. If the id is missing, the SDK returns the text "null"."""
    id = None if call.id == "null" else call.id
    key = call.index or number
    arguments = call.function.arguments
    if key in calls and id in (None, calls[key]["id"]):
        calls[key]["arguments"] += arguments
    else:
        calls[key if key not in calls else (key, id)] = {"id": id, "name": call.function.name, "arguments": arguments}


def _reference(chunk: Any) -> dict[str, Any]:
    return {"start": None, "end": None, "type": at(chunk, "type"), "reference_ids": at(chunk, "reference_ids")}


def _usage(usage: Any) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {name: at(usage, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
