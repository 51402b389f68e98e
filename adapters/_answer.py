"""A response under construction: what a decoder has read so far, in wire order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from llm_conformance.contract import (
    Annotation,
    Attachment,
    Call,
    ProviderMeta,
    Response,
    Segment,
    StreamEvent,
    ToolCall,
    ToolCallPiece,
    Usage,
)
from llm_conformance.contract.response import FinishReason, SegmentType, ThinkingMode

from ._think import Kind, ThinkSplitter


@dataclass
class Block:
    """A segment that may still grow. Adjacent text with a different `key` is a separate block."""

    type: SegmentType
    key: object = None
    content: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Tool:
    """A tool call that may still grow."""

    type: Literal["function", "custom"] = "function"
    id: str | None = None
    name: str = ""
    block: Block = field(default_factory=lambda: Block("tool_call"))


class Answer:
    """Collects the pieces of a response. The methods that add a piece yield its stream event."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.id: str | int | None = None
        self.request_id: str | None = None
        self.model = call.model
        self.created: str | None = None
        self.message = ""
        self.blocks: list[Block] = []
        self.tools: dict[object, Tool] = {}
        self.annotations: list[Annotation] = []
        self.attachments: list[Attachment] = []
        self.raw_finish: str | None = None
        self.raw_usage: dict[str, Any] = {}
        self.raw_events: list[Mapping[str, Any]] = []
        self.extras: dict[str, Any] = {}

    def block(self, type: SegmentType, key: object = None, **metadata: Any) -> Block:
        """Return the last block if it has this type and key; else a new block."""
        if not self.blocks or (self.blocks[-1].type, self.blocks[-1].key) != (type, key):
            self.blocks.append(Block(type, key, metadata=metadata))
        return self.blocks[-1]

    def keep(self, kind: str, whole: Mapping[str, Any], key: object = None) -> Block:
        """Keep an object as a block if the response has no field for it, such as the result of a hosted tool."""
        self.blocks.append(Block("other", key, metadata={"type": kind, "wire": whole}))
        return self.blocks[-1]

    def text(self, piece: str, key: object = None) -> Iterator[StreamEvent]:
        """Add visible text."""
        if piece:
            self.block("text", key).content += piece
            self.message += piece
            yield StreamEvent("response.output_text.delta", delta=piece)

    def reasoning(self, piece: str, key: object = None, **metadata: Any) -> Iterator[StreamEvent]:
        """Add visible reasoning."""
        if piece:
            self.block("reasoning", key, **metadata).content += piece
            yield StreamEvent("response.reasoning.delta", delta=piece)

    def split(self, splitter: ThinkSplitter, pieces: Iterator[tuple[Kind, str]]) -> Iterator[StreamEvent]:
        """Add the text and the reasoning that a splitter has found."""
        for kind, piece in pieces:
            if kind == "text":
                yield from self.text(piece)
            else:
                yield from self.reasoning(piece, key=splitter.block, source="tag")

    def tool(self, key: object, id: str | int | None, name: str | None, arguments: str) -> Iterator[StreamEvent]:
        """Add a piece of a tool call. Pieces of several calls may interleave."""
        tool = self.tools.get(key)
        if tool is None:
            tool = self.tools[key] = Tool()
            self.blocks.append(tool.block)
        tool.id = tool.id or _text(id)
        tool.name = tool.name or name or ""
        tool.block.content += arguments
        tool.block.metadata |= {"id": tool.id, "name": tool.name}
        index = list(self.tools).index(key)
        yield StreamEvent(
            "response.function_call_arguments.delta",
            delta=arguments,
            tool_call=ToolCallPiece(index, tool.id, tool.name),
        )

    def annotate(self, annotation: Annotation) -> Iterator[StreamEvent]:
        """Add an annotation."""
        self.annotations.append(annotation)
        yield StreamEvent("response.annotation.added", annotations=(annotation,))

    def response(self, finish: FinishReason | None, usage: Usage | None) -> Response:
        """Return the whole response."""
        call = self.call
        thinking = call.params.get("thinking") or {}
        clear = thinking.get("clear_thinking")
        return Response(
            id=_text(self.id),
            request_id=self.request_id,
            created=self.created,
            provider=call.provider,
            model=self.model,
            message=self.message,
            reasoning="".join(block.content for block in self.blocks if block.type == "reasoning") or None,
            segments=tuple(Segment(block.type, block.content, block.metadata) for block in self.blocks),
            annotations=tuple(self.annotations),
            attachments=tuple(self.attachments),
            tool_calls=tuple(
                ToolCall(tool.id, tool.name, tool.block.content or "{}", tool.type) for tool in self.tools.values()
            ),
            usage=usage and _sound(usage),
            finish_reason=finish,
            raw_finish_reason=self.raw_finish,
            thinking_mode="preserved" if clear is False else _MODES.get(thinking.get("type")),
            clear_thinking=clear,
            provider_meta=(ProviderMeta(call.provider, self.model),),
            raw_events=tuple(self.raw_events),
            extras={call.provider: self.extras} if self.extras else {},
        )


def _sound(usage: Usage) -> Usage:
    """Set each part that is larger than its whole to None. `raw` still has its count."""
    too_large: dict[str, Any] = {}
    for part, whole in _WHOLES.items():
        part_count, whole_count = getattr(usage, part), getattr(usage, whole)
        if part_count is not None and whole_count is not None and part_count > whole_count:
            too_large[part] = None
    return replace(usage, **too_large)


_WHOLES: Mapping[str, str] = {
    **dict.fromkeys(("cached_tokens", "cache_write_tokens", "audio_prompt_tokens"), "prompt_tokens"),
    **dict.fromkeys(("reasoning_tokens", "audio_completion_tokens"), "completion_tokens"),
}


def _text(id: str | int | None) -> str | None:
    """Return an id as text; some servers number their responses and calls."""
    return None if id in (None, "") else str(id)


_MODES: Mapping[object, ThinkingMode] = {"enabled": "enabled", "disabled": "disabled"}


def utc(epoch: int | None) -> str | None:
    """Return seconds since 1970 as RFC 3339 in UTC, or None for a missing or zero time."""
    return _rfc3339(datetime.fromtimestamp(epoch, UTC)) if epoch else None


def utc_of_text(time: str | None) -> str | None:
    """Return an RFC 3339 time in UTC and whole seconds, or None if it is missing."""
    if not time:
        return None
    moment = datetime.fromisoformat(time)
    return _rfc3339(moment.astimezone(UTC) if moment.tzinfo else moment)


def _rfc3339(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
