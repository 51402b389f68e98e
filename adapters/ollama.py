"""Ollama's native chat and text completions: https://docs.ollama.com/api/chat, https://docs.ollama.com/api/generate.

Each line of a stream has the form of a whole response.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Call, Response, StreamEvent, ToolCall, Usage
from llm_conformance.contract.response import FinishReason

from ._answer import Answer, utc_of_text
from ._completions import Maker, Piece, completions_adapter
from ._errors import error_in_band
from ._framing import lines
from ._provider import ProviderAdapter, bearer
from ._think import ThinkSplitter

FINISH: Mapping[str, FinishReason] = {"stop": "stop", "length": "length"}


class OllamaDecoder:
    """Decodes a response, or the lines that build one up."""

    def __init__(self, call: Call) -> None:
        self._answer = Answer(call)
        self._splitter = ThinkSplitter(call.think_profile)
        self._has_native_reasoning = False
        self._done = False

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole response, or one line."""
        answer = self._answer
        answer.raw_events.append(document)
        if document.get("error"):
            raise error_in_band(document["error"], answer.call)
        answer.model = document.get("model") or answer.model
        answer.created = answer.created or utc_of_text(document.get("created_at"))
        yield from self._feed_message(document["message"])
        answer.raw_finish = document.get("done_reason") or answer.raw_finish
        answer.raw_usage |= {name: document[name] for name in _COUNTS if document.get(name) is not None}
        self._done |= bool(document.get("done"))

    def _feed_message(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if message.get("thinking"):
            yield from self._answer.split(self._splitter, self._splitter.end())
            self._has_native_reasoning = True
            yield from self._answer.reasoning(message["thinking"])
        if message.get("content"):
            yield from self._feed_content(message["content"])
        if message.get("tool_calls"):  # the held-back text comes before the call
            yield from self._answer.split(self._splitter, self._splitter.end())
        for call in message.get("tool_calls") or ():
            function = call["function"]
            arguments = json.dumps(function["arguments"], ensure_ascii=False)
            yield from self._answer.tool(len(self._answer.tools), call.get("id"), function["name"], arguments)

    def _feed_content(self, content: str) -> Iterator[StreamEvent]:
        if self._has_native_reasoning:  # then tags in the text are part of the message
            yield from self._answer.text(content)
        else:
            yield from self._answer.split(self._splitter, self._splitter.feed(content))

    def end(self) -> Iterator[StreamEvent]:
        """Release the held-back text."""
        yield from self._answer.split(self._splitter, self._splitter.end())

    @property
    def ended(self) -> bool:
        """Whether a document with `done` has come."""
        return self._done

    def response(self) -> Response:
        """Return the whole response."""
        return self._answer.response(FINISH.get(self._answer.raw_finish or ""), self._usage())

    def _usage(self) -> Usage | None:
        raw = self._answer.raw_usage
        prompt, cached, completion = (raw.get(name) for name in _COUNTS)
        if prompt is None and completion is None:
            return None
        total = None if prompt is None or completion is None else prompt + completion
        return Usage(
            prompt_tokens=prompt, completion_tokens=completion, total_tokens=total, cached_tokens=cached, raw=raw
        )


_COUNTS = ("prompt_eval_count", "prompt_eval_cached_count", "eval_count")


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call. Ollama streams unless `stream` is false."""
    body: dict[str, Any] = {"model": call.model, "messages": list(_messages(call)), **call.params}
    if call.tools:
        body["tools"] = list(call.tools)
    return {**body, "stream": call.stream}


def _messages(call: Call) -> Iterator[Mapping[str, Any]]:
    """Yield the messages. A tool result names its tool."""
    open_calls: list[ToolCall] = []
    for message in call.messages:
        if isinstance(message, Response):
            open_calls = list(message.tool_calls)
            yield _assistant(message)
        elif message["role"] == "tool":
            name = _take_tool(open_calls, message["tool_call_id"])
            yield {"role": "tool", "tool_name": name, "content": message["content"]}
        else:
            yield message


def _take_tool(open_calls: list[ToolCall], id: str | None) -> str:
    """Remove the call with this id, or else the first call without an id (older servers). Return its tool's name."""
    known = [each for each in open_calls if each.id == id] or [each for each in open_calls if each.id is None]
    if not known:
        return ""
    open_calls.remove(known[0])
    return known[0].name


def _assistant(response: Response) -> Mapping[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": response.message}
    if response.reasoning:
        message["thinking"] = response.reasoning
    if response.tool_calls:
        message["tool_calls"] = [_tool_call(each) for each in response.tool_calls]
    return message


def _tool_call(call: ToolCall) -> Mapping[str, Any]:
    function = {"function": {"name": call.name, "arguments": json.loads(call.arguments)}}
    return {"id": call.id, **function} if call.id else function


def _line(document: Mapping[str, Any]) -> Piece:
    return Piece(document["response"], document.get("done_reason"), document.get("thinking"))


adapters = (
    ProviderAdapter("ollama:chat", OllamaDecoder, request, bearer, lines),
    completions_adapter(
        "ollama:generate", Maker(_line, FINISH, ("prompt_eval_count",), ("eval_count",)), unframe=lines
    ),
)
