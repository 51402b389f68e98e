"""The canonical response: what every adapter returns, whatever the provider sent.

Lengths and offsets count Unicode code points of the final `message`; token counts count tokens. `None` means that the
provider did not report the value; it is never replaced by 0 or by a guess (`schemas/response.schema.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from llm_conformance.contract.values import Value

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "error"]
SegmentType = Literal["text", "reasoning", "tool_call", "citation", "error", "other"]
ThinkingMode = Literal["enabled", "disabled", "interleaved", "preserved"]


@dataclass(frozen=True)
class Usage(Value):
    """Token counts, normalised so that `total_tokens == prompt_tokens + completion_tokens`.

    `cached_tokens`, `cache_write_tokens` and `audio_prompt_tokens` are parts of `prompt_tokens`;
    `reasoning_tokens` and `audio_completion_tokens` are parts of `completion_tokens`.
    `raw` keeps the provider's object.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    audio_prompt_tokens: int | None = None
    audio_completion_tokens: int | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Segment(Value):
    """One block of the answer, in wire order.

    Joining the `content` of the text segments gives `message`; of the visible reasoning segments, `reasoning`.
    Opaque data of the block stays unchanged in `metadata` (`signature`, `redacted`, `encrypted`).
    """

    type: SegmentType
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Annotation(Value):
    """Metadata attached to `message[start:end]` (code points, half-open), or to no place when both are None.

    `data` holds the provider's own fields of the citation under their own names.
    """

    start: int | None
    end: int | None
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Attachment(Value):
    """Media in the answer: `type` is a MIME type, `data` is base64, `text_index` a code point offset into `message`."""

    id: str | None = None
    type: str | None = None
    data: str | None = None
    url: str | None = None
    transcript: str | None = None
    expires_at: int | None = None
    text_index: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolCall(Value):
    """A call that the client must answer. `arguments` is the text as sent; empty becomes `{}`."""

    id: str | None
    name: str
    arguments: str
    type: Literal["function", "custom"] = "function"


@dataclass(frozen=True)
class ProviderMeta(Value):
    """One attempt at one provider; `latency_ms` in milliseconds."""

    provider_name: str
    model: str | None = None
    latency_ms: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Response(Value):
    """A whole answer. `message` is the visible answer only, `""` exactly when there is none; see the schema."""

    message: str
    provider: str
    model: str
    finish_reason: FinishReason | None
    usage: Usage | None
    id: str | None = None
    request_id: str | None = None
    created: str | None = None
    reasoning: str | None = None
    segments: tuple[Segment, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    raw_finish_reason: str | None = None
    thinking_mode: ThinkingMode | None = None
    clear_thinking: bool | None = None
    provider_meta: tuple[ProviderMeta, ...] = ()
    latency_ms: float | None = None
    cost_usd: float | None = None
    raw_events: tuple[Mapping[str, Any], ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
