"""Read Gemini's Interactions API through Google's SDK. This module joins the deltas of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.read_twice.readers.attributes import added, at, word


class Reader:
    """Read interactions. No options."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        from google import genai
        from google.genai import types

        options_of_http = types.HttpOptions(base_url=base_url, timeout=30_000)
        self._client = genai.Client(api_key="key", http_options=options_of_http)

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        interaction = self._client.interactions.create(model=model, input="Hi.")
        return _head(interaction) | _Steps().with_steps(at(interaction, "steps") or ()).values()

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        head: dict[str, Any] = {}
        steps = _Steps()
        for event in self._client.interactions.create(model=model, input="Hi.", stream=True):
            if event.event_type in ("interaction.created", "interaction.completed"):
                head |= {key: value for key, value in _head(event.interaction).items() if value is not None}
                head["finish"] = word(at(event, "interaction", "status"))
            elif event.event_type == "step.start":
                steps.start(event.step, event.index)
            elif event.event_type == "step.delta":
                steps.add(event.delta, event.index)
            elif event.event_type == "error":
                raise EndedWithErrorError(str(at(event, "error", "message")))
        if head.get("finish") in (None, "in_progress"):
            raise EndedEarlyError("the stream ended before the interaction was completed")
        return {"usage": None, "model": None} | head | steps.values()


class EndedEarlyError(Exception):
    """A stream ended without its last event. The SDK itself does not raise."""


class EndedWithErrorError(Exception):
    """A stream ended with an event `error`. The SDK itself does not raise."""


class _Steps:
    """Collects what the steps of an answer have."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._citations: list[dict[str, Any]] = []
        self._sealed: list[str] = []
        self._starts: dict[int, int] = {}

    def with_steps(self, steps: Any) -> _Steps:
        for number, step in enumerate(steps):
            self.start(step, number)
        return self

    def start(self, step: Any, index: int) -> None:
        self._sealed.append(at(step, "signature") or "")
        if step.type == "model_output":
            for content in at(step, "content") or ():
                self._starts.pop(index, None)
                self._content(content, index)
        elif step.type == "thought":
            self._reasoning += [at(each, "text") or "" for each in at(step, "summary") or ()]
        elif step.type == "function_call":
            self._calls[index] = {"id": at(step, "id"), "name": step.name, "arguments": at(step, "arguments") or {}}

    def add(self, delta: Any, index: int) -> None:
        self._sealed.append(at(delta, "signature") or "")
        if delta.type == "text":
            self._content(delta, index)
        elif delta.type == "thought_summary":
            self._reasoning.append(at(delta, "content", "text") or "")
        elif delta.type == "arguments_delta":
            call = self._calls[index]
            before = call["arguments"] if isinstance(call["arguments"], str) else ""
            call["arguments"] = before + (at(delta, "arguments") or "")
        elif delta.type in ("text_annotation_delta", "text_annotation"):
            self._annotations(delta, index)

    def values(self) -> dict[str, Any]:
        text = "".join(self._text)
        return {
            "text": text,
            "reasoning": "".join(self._reasoning),
            "calls": list(self._calls.values()),
            "sealed": self._sealed,
            "citations": [
                {**each, "start": _code_points(text, each["start"]), "end": _code_points(text, each["end"])}
                for each in self._citations
            ],
        }

    def _content(self, content: Any, index: int) -> None:
        if content.type != "text":
            return
        self._starts.setdefault(index, len("".join(self._text).encode()))
        self._text.append(at(content, "text") or "")
        self._annotations(content, index)

    def _annotations(self, holder: Any, index: int) -> None:
        before = self._starts.get(index, 0)
        for each in at(holder, "annotations") or ():
            end = at(each, "end_index")
            start = (at(each, "start_index") or 0) if end is not None else None
            self._citations.append(
                {
                    "start": None if start is None else start + before,
                    "end": None if end is None else end + before,
                    "url": at(each, "url"),
                    "title": at(each, "title"),
                }
            )


def _code_points(text: str, offset: int | None) -> int | None:
    return None if offset is None else len(text.encode()[:offset].decode("utf-8", "ignore"))


def _head(interaction: Any) -> dict[str, Any]:
    created = at(interaction, "created")
    model = at(interaction, "model")
    return {
        "id": at(interaction, "id") or None,
        "created": created.isoformat() if hasattr(created, "isoformat") else created,
        "model": word(model),
        "finish": word(at(interaction, "status")),
        "usage": _usage(at(interaction, "usage")),
    }


def _usage(usage: Any) -> dict[str, int | None] | None:
    if usage is None:
        return None
    thoughts = at(usage, "total_thought_tokens")
    return {
        "prompt_tokens": added(at(usage, "total_input_tokens"), at(usage, "total_tool_use_tokens")),
        "completion_tokens": added(at(usage, "total_output_tokens"), thoughts),
        "total_tokens": at(usage, "total_tokens"),
        "cached_tokens": at(usage, "total_cached_tokens"),
        "reasoning_tokens": thoughts,
    }
