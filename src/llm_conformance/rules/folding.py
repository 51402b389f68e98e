"""Fold the deltas of a stream: the contract joins them by plain concatenation.

Pieces of a type that the schema rejects are skipped; STR-3 reports them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.contract import Segment


@dataclass
class Folded:
    """The content of a stream's events.

    Attributes:
        text: The joined deltas of the message.
        reasoning: The joined deltas of the reasoning.
        tool_calls: `id`, `name` and joined `arguments` of each tool call, by index.
        annotations: All annotations, as the events have them.
        media: Joined `data` (base64) and `transcript` of each attachment, by its id.
        segments: All segments that events carry whole.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: dict[int, dict[str, str | None]] = field(default_factory=dict)
    annotations: list[Any] = field(default_factory=list)
    media: dict[str | None, dict[str, str]] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)

    def tool_call(self, index: int) -> tuple[str | None, str | None, str]:
        """Return (id, name, arguments) of a tool call; empty arguments are `{}`."""
        call = self.tool_calls[index]
        return call["id"], call["name"], call["arguments"] or "{}"

    def attachment(self, id: str | None) -> tuple[str | None, str | None]:
        """Return (data, transcript) of an attachment: of the pieces with its id, or else of those without an id."""
        pieces = self.media.get(id) or self.media.get(None, {})
        return pieces.get("data"), pieces.get("transcript")


def fold(events: Iterable[Mapping[str, Any]]) -> Folded:
    """Return the content of `events`."""
    folded = Folded()
    for event in events:
        folded.segments += _segments(event.get("segments"))
        kind, delta = event.get("event_type"), event.get("delta")
        piece = delta if isinstance(delta, str) else ""
        if kind == "response.output_text.delta":
            folded.text += piece
        elif kind == "response.reasoning.delta":
            folded.reasoning += piece
        elif kind == "response.function_call_arguments.delta":
            _fold_tool_call(folded, event.get("tool_call"), piece)
        elif kind == "response.annotation.added":
            added = event.get("annotations")
            folded.annotations += added if isinstance(added, list) else []
        elif kind == "response.media":
            _fold_media(folded, event.get("attachment"))
    return folded


def kinds_shown(events: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the kinds of content that the deltas of a stream have, named as in `Expected.shows_early`."""
    return frozenset(
        kind
        for event in events
        for name, (kind, fields) in _KINDS.items()
        if event.get("event_type") == name and any(event.get(field) for field in fields)
    )


_KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "response.output_text.delta": ("text", ("delta",)),
    "response.reasoning.delta": ("reasoning", ("delta",)),
    "response.function_call_arguments.delta": ("tools", ("delta", "tool_call")),
    "response.media": ("audio", ("attachment",)),
}
"""Maps an event type to the kind of its content and the fields that hold it."""


def _fold_tool_call(folded: Folded, tool_call: Any, piece: str) -> None:
    if not isinstance(tool_call, Mapping) or not isinstance(tool_call.get("index"), int):
        return
    folded_call = folded.tool_calls.setdefault(tool_call["index"], {"id": None, "name": None, "arguments": ""})
    for key in ("id", "name"):
        if isinstance(tool_call.get(key), str):
            folded_call[key] = tool_call[key] or folded_call[key]
    folded_call["arguments"] = f"{folded_call['arguments']}{piece}"


def _fold_media(folded: Folded, attachment: Any) -> None:
    if not isinstance(attachment, Mapping) or not isinstance(attachment.get("id"), str | None):
        return
    id = attachment.get("id")
    if len(folded.media) == 1:  # OpenAI sends the id once
        (only,) = folded.media
        id = only if id is None else id
        if only is None:
            folded.media[id] = folded.media.pop(None)
    whole = folded.media.setdefault(id, {})
    for key in ("data", "transcript"):
        if isinstance(attachment.get(key), str):
            whole[key] = whole.get(key, "") + attachment[key]


def _segments(segments: Any) -> list[Segment]:
    return [
        Segment(segment["type"], str(segment.get("content")), segment.get("metadata") or {})
        for segment in (segments if isinstance(segments, list) else ())
        if isinstance(segment, Mapping) and "type" in segment
    ]
