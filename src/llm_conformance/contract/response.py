"""The canonical response: what every adapter returns, whatever the provider sends.

Offsets count Unicode code points of the final `message`. `None` means that the provider did not report a value; 0 or a
guess must not take its place. The normative form is `schemas/response.schema.json`.
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

    Attributes:
        prompt_tokens: All tokens of the input, including cached tokens.
        completion_tokens: All tokens of the output, including reasoning.
        total_tokens: The sum of both.
        cached_tokens: The part of `prompt_tokens` that was read from a cache.
        cache_write_tokens: The part of `prompt_tokens` that was written to a cache.
        reasoning_tokens: The part of `completion_tokens` that is reasoning.
        audio_prompt_tokens: The part of `prompt_tokens` that is audio.
        audio_completion_tokens: The part of `completion_tokens` that is audio.
        raw: The provider's own usage object, unchanged.
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
    """One block of the answer, or one contiguous run of text or reasoning if the wire has no blocks.

    Attributes:
        type: The type of the block; `other` for a block of any other or unknown type.
        content: The block's text. All text segments joined are `message`; all reasoning segments joined are
            `reasoning`.
        metadata: Data of the block. Opaque values of the provider stay unchanged: `signature`, `redacted`, `encrypted`.
            Reasoning that was cut out of the text by tags has `source: tag`; tools that the provider ran itself have
            `server_executed: true`; a segment `other` may have a `kind`, such as `refusal`.
    """

    type: SegmentType
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Annotation(Value):
    """A citation of `message[start:end]`.

    Attributes:
        start: The offset of the first code point; None if the citation has no place in the message.
        end: The offset after the last code point; None if `start` is None.
        data: The provider's own fields of the citation, under the provider's names.
    """

    start: int | None
    end: int | None
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Attachment(Value):
    """Media in the answer, such as audio.

    Attributes:
        id: The provider's id of the media.
        type: The MIME type.
        data: The bytes, in base64.
        url: Where the bytes can be fetched, if `data` has none.
        transcript: The text of spoken audio.
        expires_at: When the provider deletes the media, in seconds since 1970 (Unix time).
        text_index: The offset in `message`, in code points, at which the media was sent.
        metadata: Further data of the media.
    """

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
    """A tool call that the client has to answer.

    Attributes:
        id: The provider's id of the call. If the provider sends no id, None or a made-up id that is unique.
        name: The name of the tool.
        arguments: The arguments as the text that the provider sent, usually JSON; `{}` if it sent no arguments.
        type: `custom` for tools that take free text as their argument.
    """

    id: str | None
    name: str
    arguments: str
    type: Literal["function", "custom"] = "function"


@dataclass(frozen=True)
class ProviderMeta(Value):
    """One attempt to get the answer from one provider.

    Attributes:
        provider_name: The name of the provider.
        model: The model that was asked.
        latency_ms: How long the attempt took, in milliseconds.
        extra: Further values; for an attempt that failed, why it failed.
    """

    provider_name: str
    model: str | None = None
    latency_ms: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Response(Value):
    """A whole answer.

    Attributes:
        message: The visible answer, with all of its white space; "" if there is none.
        provider: The name of the provider, as in the call.
        model: The model that answered: the last model that the wire names, or else the model of the call.
        finish_reason: Why the answer ended; None if that is unknown.
        usage: The token counts; None if the provider reports none at all.
        id: The provider's id of the answer.
        request_id: The provider's id of the request.
        created: When the answer was created, as RFC 3339 in UTC (`2025-01-21T17:24:32Z`).
        reasoning: The visible reasoning; None if there is none, never "".
        segments: The blocks of the answer, in wire order.
        annotations: The citations.
        attachments: The media.
        tool_calls: The tool calls that the client has to answer. Calls of hosted tools are segments.
        raw_finish_reason: The provider's own word for why the answer ended.
        thinking_mode: The thinking mode that the request asked for.
        clear_thinking: Whether the request asked to discard earlier reasoning; None if the request did not say.
        provider_meta: All attempts. The last one gave the answer.
        latency_ms: How long the answer took, in milliseconds.
        cost_usd: What the answer cost, in US dollars.
        raw_events: All frames of the provider, in order and without secrets.
        extras: Further values, by namespace, such as the provider's name.
    """

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
