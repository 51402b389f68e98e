"""Read chat completions through OpenAI's client, or through a client with the same interface.

OpenAI's SDK joins the chunks of a stream itself (`ChatCompletionStreamState`). With `fold = "plain"`, this module joins
the deltas of the chunks, as for SDKs that have no such helper.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from tools.read_twice.readers.attributes import at

_MESSAGES = [{"role": "user", "content": "Hi."}]


class Reader:
    """Read chat completions. Options: `client`, as `module:Class`, and `fold`, `helper` or `plain`."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        module, _, name = options["client"].partition(":")
        make = getattr(importlib.import_module(module), name)
        self._client = make(base_url=base_url, api_key="key", max_retries=0, timeout=30)
        self._has_helper = options.get("fold") == "helper"

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        return _values(self._client.chat.completions.create(model=model, messages=_MESSAGES))

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        chunks = self._client.chat.completions.create(model=model, messages=_MESSAGES, stream=True)
        return _values(_by_helper(chunks) if self._has_helper else folded(chunks))


def _by_helper(chunks: Iterable[Any]) -> Any:
    from openai.lib.streaming.chat import ChatCompletionStreamState

    state: Any = ChatCompletionStreamState()
    head: dict[str, Any] = {}
    for chunk in chunks:
        state.handle_chunk(chunk)
        # The helper keeps the id, time and model of the first chunk and the counts of the last chunk, even if they are
        # empty. So this takes the first id, time and model that are not empty, and the last such counts.
        named = {name: at(chunk, name) for name in ("id", "created", "model", "usage")}
        head |= {name: value for name, value in named.items() if value and (name == "usage" or name not in head)}
    choices = state.current_completion_snapshot.choices
    return SimpleNamespace(**{"id": None, "created": None, "model": None, "usage": None} | head, choices=choices)


def folded(chunks: Iterable[Any]) -> Any:
    """Return an object with the attributes of a whole answer, joined from chunks."""
    message = SimpleNamespace(content="", refusal="", annotations=[], reasoning_content="", reasoning="")
    calls: dict[Any, SimpleNamespace] = {}
    old_call = SimpleNamespace(name="", arguments="")
    choice = SimpleNamespace(index=0, finish_reason=None, message=message)
    answer = SimpleNamespace(id=None, created=None, model=None, usage=None, choices=[choice])
    for chunk in chunks:
        for name in ("id", "created", "model"):
            setattr(answer, name, at(answer, name) or at(chunk, name))
        if error := at(chunk, "x_groq", "error"):
            raise EndedWithErrorError(error)
        answer.usage = at(chunk, "usage") or at(chunk, "x_groq", "usage") or answer.usage
        for piece in at(chunk, "choices") or ():
            if piece.index:
                continue
            choice.finish_reason = at(piece, "finish_reason") or choice.finish_reason
            for name in ("content", "refusal", "reasoning_content", "reasoning"):
                setattr(message, name, getattr(message, name) + (at(piece, "delta", name) or ""))
            message.annotations += at(piece, "delta", "annotations") or []
            for name in ("name", "arguments"):
                text = at(piece, "delta", "function_call", name) or ""
                setattr(old_call, name, getattr(old_call, name) + text)
            for call in at(piece, "delta", "tool_calls") or ():
                _add_call(calls, call)
    message.tool_calls = list(calls.values())
    message.function_call = old_call if old_call.name else None
    return answer


class EndedWithErrorError(Exception):
    """A chunk has an error. Groq's SDK itself does not raise."""


def _add_call(calls: dict[Any, SimpleNamespace], piece: Any) -> None:
    """Add a piece of a call. A new id begins a new call, because the index may be missing or the same for all calls."""
    index, id = at(piece, "index"), at(piece, "id")
    known = [call for (key, _), call in calls.items() if key == index and (not id or call.id in (None, id))]
    if not known:
        function = SimpleNamespace(name="", arguments="")
        known = [calls.setdefault((index, id), SimpleNamespace(id=None, type="function", function=function))]
    call = known[-1]
    call.id = call.id or id
    call.function.name = call.function.name or at(piece, "function", "name") or ""
    call.function.arguments += at(piece, "function", "arguments") or ""


def _values(answer: Any) -> dict[str, Any]:
    choice = next((each for each in at(answer, "choices") or () if not at(each, "index")), None)
    message = at(choice, "message")
    values: dict[str, Any] = {
        "id": at(answer, "id"),
        "created": at(answer, "created"),
        "model": at(answer, "model"),
        "text": at(message, "content"),
        "reasoning": at(message, "reasoning_content") or at(message, "reasoning"),
        "refusal": at(message, "refusal"),
        "calls": list(_calls(message)),
        "finish": at(choice, "finish_reason"),
        "usage": _usage(at(answer, "usage")),
    }
    if audio := at(message, "audio"):
        audio = _object(audio) if isinstance(audio, dict) else audio
        piece = {"data": at(audio, "data"), "transcript": at(audio, "transcript")}
        values["media"] = [piece] if any(piece.values()) else []
    annotations = at(message, "annotations")
    return values if annotations is None else {**values, "citations": [_citation(each) for each in annotations]}


def _calls(message: Any) -> Iterable[dict[str, Any]]:
    for call in at(message, "tool_calls") or ():
        if at(call, "type") == "custom":
            yield {"id": call.id, "name": at(call, "custom", "name"), "arguments": at(call, "custom", "input")}
        else:
            yield {
                "id": at(call, "id"),
                "name": at(call, "function", "name"),
                "arguments": at(call, "function", "arguments"),
            }
    if function := at(message, "function_call"):
        yield {"id": None, "name": function.name, "arguments": function.arguments}


def _citation(annotation: Any) -> dict[str, Any]:
    annotation = annotation if not isinstance(annotation, dict) else _object(annotation)
    kinds = ("url_citation", "document_citation", "function_citation")
    cited = next((found for kind in kinds if (found := at(annotation, kind))), annotation)
    return {
        "start": at(cited, "start_index"),
        "end": at(cited, "end_index"),
        "url": at(cited, "url"),
        "title": at(cited, "title"),
    }


def _object(value: Any) -> Any:
    """Return a JSON value as an object with attributes. The SDK has no type for it."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: _object(item) for key, item in value.items()})
    return value


def _usage(usage: Any) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {
        "prompt_tokens": at(usage, "prompt_tokens"),
        "completion_tokens": at(usage, "completion_tokens"),
        "total_tokens": at(usage, "total_tokens"),
        "cached_tokens": at(usage, "prompt_tokens_details", "cached_tokens"),
        "cache_write_tokens": at(usage, "prompt_tokens_details", "cache_write_tokens"),
        "reasoning_tokens": at(usage, "completion_tokens_details", "reasoning_tokens"),
        "audio_prompt_tokens": at(usage, "prompt_tokens_details", "audio_tokens"),
        "audio_completion_tokens": at(usage, "completion_tokens_details", "audio_tokens"),
    }
