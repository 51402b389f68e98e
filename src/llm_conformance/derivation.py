"""What a provider's bytes say, by a plain walk along field paths.

This is the lint's second opinion on a hand-written truth. It shares no code with `adapters/`, folds nothing that it
does not have to, and knows nothing of think tags: it reports the visible text as the wire has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sseclient

from llm_conformance.cassette import Interaction, frames


@dataclass
class WireFacts:
    """What one recorded answer says; `calls` are the client's tool calls as [id, name, arguments]."""

    id: str | None = None
    model: str | None = None
    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    calls: dict[Any, list[str]] = field(default_factory=dict)
    opaque: list[str] = field(default_factory=list)
    ended: bool = False
    error: bool = False


def documents(interaction: Interaction) -> Iterator[Any]:
    """Yield the JSON documents of an answer: the body, or the data of each frame except `[DONE]`.

    Raises ValueError where the bytes are not JSON.
    """
    if not interaction.streamed:
        yield json.loads(interaction.body)
        return
    for event in sseclient.SSEClient(frames(interaction.body)).events():
        if event.data != "[DONE]":
            yield json.loads(event.data)


def derive(interaction: Interaction, wire: str) -> WireFacts:
    """Walk the answer's documents along the field paths of `wire` (a name in `schemas/wire/`)."""
    facts = WireFacts(ended=b"[DONE]" in interaction.body)
    for document in documents(interaction):
        _WALKS[wire](facts, document)
    return facts


def _walk_chat(facts: WireFacts, document: Mapping[str, Any]) -> None:
    facts.error |= bool(document.get("error"))
    facts.id = facts.id or document.get("id")
    facts.model = document.get("model") or facts.model
    facts.usage.update(document.get("usage") or {})
    for choice in _first_choice(document.get("choices") or ()):
        facts.finish = choice.get("finish_reason") or facts.finish
        message = choice.get("message") or choice.get("delta") or {}
        facts.text += message.get("content") or ""
        facts.reasoning += message.get("reasoning_content") or ""
        for position, call in enumerate(message.get("tool_calls") or ()):
            known = facts.calls.setdefault(call.get("index", position), ["", "", ""])
            function = call.get("function") or {}
            known[0] = known[0] or call.get("id") or ""
            known[1] = known[1] or function.get("name") or ""
            known[2] += function.get("arguments") or ""


def _first_choice(choices: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (choice for choice in choices if choice.get("index", 0) == 0)


def _walk_messages(facts: WireFacts, document: Mapping[str, Any]) -> None:
    kind = document.get("type")
    facts.error |= kind == "error"
    facts.ended |= kind == "message_stop"
    message = document.get("message") or (document if kind == "message" else {})
    facts.id = facts.id or message.get("id")
    facts.model = message.get("model") or facts.model
    facts.finish = message.get("stop_reason") or (document.get("delta") or {}).get("stop_reason") or facts.finish
    reported = message.get("usage") or document.get("usage") or {}
    facts.usage.update({key: value for key, value in reported.items() if value is not None})
    for position, block in enumerate(message.get("content") or ()):
        _walk_block(facts, position, block)
    _walk_block(facts, document.get("index"), document.get("content_block") or {})
    _walk_block(facts, document.get("index"), document.get("delta") or {})


def _walk_block(facts: WireFacts, index: Any, block: Mapping[str, Any]) -> None:
    kind = block.get("type")
    if kind in ("text", "text_delta"):
        facts.text += block["text"]
    elif kind in ("thinking", "thinking_delta"):
        facts.reasoning += block["thinking"]
    elif kind == "tool_use":
        whole = json.dumps(block["input"]) if block.get("input") else ""
        facts.calls[index] = [block["id"], block["name"], whole]
    elif kind == "input_json_delta" and index in facts.calls:
        facts.calls[index][2] += block["partial_json"]
    facts.opaque += [block[key] for key in ("signature", "data") if block.get(key)]


_WALKS: Mapping[str, Callable[[WireFacts, Mapping[str, Any]], None]] = {
    "chat": _walk_chat,
    "messages": _walk_messages,
}
