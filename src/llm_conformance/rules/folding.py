"""Folding a stream's deltas by the contract's own rule: plain concatenation.

Events are read without trust: a piece of another type than the schema says is left out here, and reported by STR-3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.contract import Segment


@dataclass
class Folded:
    """What the deltas of a stream add up to. `tool_calls` is by index, `media` by attachment id."""

    text: str = ""
    reasoning: str = ""
    tool_calls: dict[int, dict[str, str | None]] = field(default_factory=dict)
    annotations: list[Any] = field(default_factory=list)
    media: dict[str | None, dict[str, str]] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)

    def tool_call(self, index: int) -> tuple[str | None, str | None, str]:
        """Return (id, name, arguments) of a call; empty arguments are `{}`."""
        call = self.tool_calls[index]
        return call["id"], call["name"], call["arguments"] or "{}"

    def attachment(self, id: str | None) -> tuple[str | None, str | None]:
        """Return joined base64 and transcript of an attachment; pieces without an id belong to the only one."""
        pieces = self.media.get(id) or self.media.get(None, {})
        return pieces.get("data"), pieces.get("transcript")


def fold(events: Iterable[Mapping[str, Any]]) -> Folded:
    """Return what the deltas of `events` add up to."""
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


def _fold_tool_call(folded: Folded, whose: Any, piece: str) -> None:
    if not isinstance(whose, Mapping) or not isinstance(whose.get("index"), int):
        return
    call = folded.tool_calls.setdefault(whose["index"], {"id": None, "name": None, "arguments": ""})
    for key in ("id", "name"):
        if isinstance(whose.get(key), str):
            call[key] = whose[key] or call[key]
    call["arguments"] = f"{call['arguments']}{piece}"


def _fold_media(folded: Folded, attachment: Any) -> None:
    if not isinstance(attachment, Mapping) or not isinstance(attachment.get("id"), str | None):
        return
    whole = folded.media.setdefault(attachment.get("id"), {})
    for key in ("data", "transcript"):
        if isinstance(attachment.get(key), str):
            whole[key] = whole.get(key, "") + attachment[key]


def _segments(segments: Any) -> list[Segment]:
    return [
        Segment(segment["type"], str(segment.get("content")), segment.get("metadata") or {})
        for segment in (segments if isinstance(segments, list) else ())
        if isinstance(segment, Mapping) and "type" in segment
    ]
