"""What a provider's bytes say, by a plain walk along field paths.

This is the lint's second opinion on a hand-written truth. It shares no code with `adapters/`, folds nothing that it
does not have to, and knows nothing of think tags: it reports the visible text as the wire has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sseclient

from llm_conformance.cassette import Interaction, frames
from llm_conformance.providers import Provider


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
    created: int | None = None
    refused: bool = False
    has_media: bool = False
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


def without_last_frame(interaction: Interaction) -> Interaction:
    """Return a stream as it is when all but its last frame has been sent."""
    pieces = list(frames(interaction.body))
    return replace(interaction, body=b"".join(pieces[:-1]))


def derive(interaction: Interaction, provider: Provider) -> WireFacts:
    """Walk the answer's documents along the field paths of the provider's wire.

    Raises ValueError, KeyError, TypeError or AttributeError where the bytes are of another shape.
    """
    facts = WireFacts(ended=provider.end_marker.encode() in interaction.body)
    for document in documents(interaction):
        _WALKS[provider.wire](facts, document, provider)
    return facts


def _walk_chat(facts: WireFacts, document: Mapping[str, Any], provider: Provider) -> None:
    facts.error |= bool(document.get("error"))
    facts.id = facts.id or document.get("id")
    facts.model = document.get("model") or facts.model
    facts.created = facts.created or document.get("created")
    _merge(facts.usage, document.get("usage"))
    for choice in _first_choice(document.get("choices") or ()):
        facts.finish = choice.get("finish_reason") or facts.finish
        message = choice.get("message") or choice.get("delta") or {}
        content = message.get("content")
        facts.text += content if isinstance(content, str) else json.dumps(content) if content else ""
        facts.reasoning += next((message[name] for name in provider.reasoning_fields if message.get(name)), "")
        facts.refused |= bool(message.get("refusal"))
        facts.has_media |= bool(message.get("audio"))
        for position, call in enumerate(message.get("tool_calls") or ()):
            function = call.get("function") or call.get("custom") or {}
            _walk_call(facts, call.get("index", position), call.get("id"), function)
        if message.get("function_call"):
            _walk_call(facts, "function_call", None, message["function_call"])


def _walk_call(facts: WireFacts, key: Any, id: str | None, function: Mapping[str, Any]) -> None:
    known = facts.calls.setdefault(key, ["", "", ""])
    known[0] = known[0] or id or ""
    known[1] = known[1] or function.get("name") or ""
    known[2] += function.get("arguments") or function.get("input") or ""


def _merge(known: dict[str, Any], said: Mapping[str, Any] | None) -> None:
    known.update({key: value for key, value in (said or {}).items() if value is not None})


def _first_choice(choices: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (choice for choice in choices if choice.get("index", 0) == 0)


def _walk_messages(facts: WireFacts, document: Mapping[str, Any], _provider: Provider) -> None:
    kind = document.get("type")
    facts.error |= kind == "error"
    message = document.get("message") or (document if kind == "message" else {})
    facts.id = facts.id or message.get("id")
    facts.model = message.get("model") or facts.model
    facts.finish = message.get("stop_reason") or (document.get("delta") or {}).get("stop_reason") or facts.finish
    _merge(facts.usage, message.get("usage") or document.get("usage"))
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


_WALKS: Mapping[str, Callable[[WireFacts, Mapping[str, Any], Provider], None]] = {
    "chat": _walk_chat,
    "messages": _walk_messages,
}
