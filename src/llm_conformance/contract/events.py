"""The canonical stream: events of a closed set of types. The last event carries the whole response or the error."""

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
    """The tool call to which a piece of arguments belongs.

    Attributes:
        index: The number of the tool call in the answer, from 0.
        id: The provider's id of the call; it may come once or with every piece.
        name: The name of the tool; it may come once or with every piece.
    """

    index: int
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class StreamEvent(Value):
    """One event of a streamed answer.

    Attributes:
        event_type: The type of the event. `response.completed` or `response.error` is the last event.
        delta: The next piece of the message (`response.output_text.delta`), of the reasoning
            (`response.reasoning.delta`) or of the arguments of a tool call
            (`response.function_call_arguments.delta`). Pieces are joined by plain concatenation.
        tool_call: The tool call to which `delta` belongs, in `response.function_call_arguments.delta`.
        attachment: A piece of an attachment, in `response.media`. Pieces with the same `id` are one attachment; their
            `data` (base64) and `transcript` are joined.
        annotations: New annotations, in `response.annotation.added`.
        segments: Segments that are complete and that no other event shows, such as a block of unknown type.
        provider_meta: Attempts, as in the response.
        raw_event: The provider's frame behind this event.
        extras: Further values, by namespace.
        response: The whole response in `response.completed`. In `response.error`, the part of it that came, or None.
        error: The error in `response.error`, in the form of `LLMError.to_dict()`.
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
