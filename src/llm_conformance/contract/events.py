"""The canonical stream: a closed set of events, the last of which carries the whole response or the error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from llm_conformance.contract.response import Annotation, ProviderMeta, Response, Segment
from llm_conformance.contract.values import Value

EventType = Literal[
    "response.output_text.delta",
    "response.reasoning.delta",
    "response.function_call_arguments.delta",
    "response.annotation.added",
    "response.media",
    "response.completed",
    "response.error",
]
EVENT_TYPES: tuple[str, ...] = get_args(EventType)


@dataclass(frozen=True)
class ToolCallPiece(Value):
    """Whose arguments a delta belongs to: `index` counts tool calls of the answer from 0."""

    index: int
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class StreamEvent(Value):
    """One step of a streamed answer.

    `delta` is a piece of text, of reasoning or of tool arguments; pieces join by plain concatenation. `attachment` is a
    piece of media whose `data` and `transcript` join the same way. `response.completed` carries `response`,
    `response.error` carries `error` (`LLMError.to_dict()`) and may carry the partial response.
    """

    event_type: EventType
    delta: str | None = None
    tool_call: ToolCallPiece | None = None
    attachment: Mapping[str, Any] | None = None
    annotations: tuple[Annotation, ...] | None = None
    segments: tuple[Segment, ...] = ()
    provider_meta: tuple[ProviderMeta, ...] = ()
    raw_event: Mapping[str, Any] | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    response: Response | None = None
    error: Mapping[str, Any] | None = None
