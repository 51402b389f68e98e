"""Anthropic's messages: https://docs.anthropic.com/en/api/messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llm_conformance.rules.violation import Blocked
from llm_conformance.server.apis.answer import Answer, Counts, ToolCall, count, inner, objects, text_of
from llm_conformance.server.apis.wire_api import Document, WireApi
from llm_conformance.server.framings.server_sent_events import SERVER_SENT_EVENTS

VERSION = "2023-06-01"
"""The only version of the format: https://docs.anthropic.com/en/api/versioning."""
_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""The counts that make up the input. `input_tokens` does not include tokens read from or written to the cache."""
_CHOICES = {"any": "required", "none": "none", "auto": "auto"}


class Messages(WireApi):
    """Anthropic's messages."""

    name = "messages"
    row = ("llamacpp", "messages")
    path = "/messages"
    framing = SERVER_SENT_EVENTS
    limits = ("max_tokens",)
    cut = "max_tokens"
    calls = "tool_use"
    call_type = "tool_use"
    ended = "end_turn"
    stopped = "stop_sequence"
    last = "message_stop"
    last_types = ("message_stop", "error")

    def credentials(self, key: str) -> dict[str, str]:
        """Return the key, and the version of the format."""
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def asked(self, body: dict[str, Any], streamed: bool, usage: bool) -> dict[str, Any]:
        """Return a request with the field that asks for a stream. A budget for thinking is added to the token limit.

        Anthropic refuses a temperature beside thinking, and a limit that is not above the budget:
        https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking.
        """
        budget = inner(body, "thinking").get("budget_tokens", 0)
        if budget:
            body = {name: value for name, value in body.items() if name != "temperature"}
            body["max_tokens"] += budget
        return super().asked(body, streamed, usage)

    def plain(self, document: Document) -> Sequence[Answer]:
        """Return the message."""
        answer = Answer()
        for number, block in enumerate(objects(document.get("content"))):
            _begin(answer, number, block)
        answer.end(document.get("stop_reason"), self.cut)
        return (answer,)

    def streamed(self, documents: Sequence[Document]) -> Sequence[Answer]:
        """Return the message."""
        answer = Answer()
        for event in documents:
            kind = event.get("type")
            if kind == "content_block_start":
                _begin(answer, event.get("index"), inner(event, "content_block"), streamed=True)
            elif kind == "content_block_delta":
                _add(answer, event.get("index"), inner(event, "delta"))
            elif kind == "message_delta":
                answer.end(inner(event, "delta").get("stop_reason"), self.cut)
        return (answer,)

    def counts(self, documents: Sequence[Document]) -> Counts:
        """Return the counts. Counts of a later event replace those of an earlier one."""
        usage: dict[str, Any] = {}
        for each in documents:
            for source in (each, inner(each, "message")):
                usage |= {name: value for name, value in inner(source, "usage").items() if value is not None}
        if count(usage, "input_tokens") is None:
            return Counts(None, count(usage, "output_tokens"))
        return Counts(sum(count(usage, name) or 0 for name in _INPUT), count(usage, "output_tokens"))

    def id(self, documents: Sequence[Document]) -> Any:
        """Return the id of the message."""
        first = documents[0]
        return inner(first, "message").get("id") if "message" in first else first.get("id")

    def tool_choice(self, request: Document) -> str | None:
        """Return the type of `tool_choice`, or the name in it."""
        wanted = inner(request, "tool_choice")
        return wanted["name"] if wanted.get("type") == "tool" else _CHOICES.get(wanted.get("type", ""))

    def wants_one_call(self, request: Document) -> bool:
        """Return True for `disable_parallel_tool_use`."""
        return inner(request, "tool_choice").get("disable_parallel_tool_use") is True

    def stops(self, request: Document) -> Sequence[str]:
        """Return `stop_sequences`."""
        return request.get("stop_sequences") or ()


def _begin(answer: Answer, number: Any, block: Mapping[str, Any], streamed: bool = False) -> None:
    kind = block.get("type")
    if kind == "text" and text_of(block.get("text")):
        answer.texts.append(block["text"])
    elif kind == "thinking" and text_of(block.get("thinking")):
        answer.reasonings.append(block["thinking"])
    elif kind == "tool_use":
        given = block.get("input")
        whole = "" if streamed and not given else json.dumps(given, ensure_ascii=False)
        answer.calls[number] = ToolCall(text_of(block.get("id")), kind, text_of(block.get("name")), whole, [block])


def _add(answer: Answer, number: Any, delta: Mapping[str, Any]) -> None:
    answer.texts += [delta["text"]] if text_of(delta.get("text")) else []
    answer.reasonings += [delta["thinking"]] if text_of(delta.get("thinking")) else []
    if "partial_json" in delta:
        if number not in answer.calls:
            raise Blocked("a piece of an input belongs to no call; WIRE-16 reports that")
        answer.calls[number].arguments += text_of(delta["partial_json"])
        answer.calls[number].pieces.append(delta)
