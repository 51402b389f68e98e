"""The expected values of a recording: what a correct adapter returns for it.

A scenario file states them; `derive` derives them from the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from llm_conformance.contract import LLMError, Segment, ToolCall, Usage
from llm_conformance.scenarios.round_trip import RoundTripRequirement
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers.api import OffsetUnit

Unreported = Literal["", "malformed", "incomplete", "connection"]
"""Why a call fails although the provider reported no error; "" if the provider did."""

FAILED = ("LLMError", "ServiceUnavailableError", "TimeoutError")
"""What an adapter may raise if an answer ended with an error, instead of returning the part that it received."""


@dataclass(frozen=True)
class ExpectedAnnotation:
    """A citation that an adapter must return.

    `start` and `end` are offsets in code points of the message, and `text` is the annotated text. All three are None
    for a citation without a place in the message. With `may_be_unanchored`, an adapter may return the citation without
    a place.
    """

    start: int | None
    end: int | None
    text: str | None
    data: Mapping[str, Any]
    may_be_unanchored: bool = False


@dataclass(frozen=True)
class ExpectedToolCall(ToolCall):
    """A tool call that an adapter must return.

    On the wire, a call of a tool that the provider defines, such as a shell, has no name, and has its arguments as an
    object, not as a text. Libraries differ in how they name such tools and wrap the object.

    Attributes:
        other_names: Further names that are correct.
        has_object: Whether the arguments are an object on the wire. An adapter may return an equal JSON object, or an
            object that has it as a value.
    """

    other_names: tuple[str, ...] = ()
    has_object: bool = False


@dataclass(frozen=True)
class Expected:
    """What a correct adapter returns for one recording.

    Where a tuple holds several ids, times or finish reasons, any of them is correct.

    Attributes:
        stated: The keys that are expected, named as in the scenario file. Rules skip all others.
        message_is_json: Whether the message is compared as JSON, not as text.
        refusal: The text of a refusal. The message may end with it, but need not.
        error: The class of the error that the adapter raises.
        fault: Why the adapter raises if the provider reported no error: the body is `malformed`, the stream is
            `incomplete` (it ends before the answer does), or the `connection` failed.
        retry_after: The `retry-after` header.
        may_raise: Error classes that an adapter may raise instead of returning a response, or instead of `error`.
        unknown: The type name of an event or block that no adapter has to know. In a scenario, no adapter can know it.
            In a bare recording, the suite does not know it.
        beside_unknown: For a bare recording with an unknown block, the number of other blocks with content. An adapter
            that returns more segments shows the unknown block.
        shows_early: The kinds of content that a stream has before its last frame: `text`, or a capability that an
            adapter needs to show such content (`reasoning`, `tools`, `audio`).
        offset_unit: The unit in which the provider counts the offsets of annotations.
        round_trip: What the request has to have from earlier answers.
        usage_with_compactions: `usage` plus the tokens of summaries that the provider made and bills; None if it made
            no summary. An adapter may return either.
        oversized: Counts that the provider reports as larger than the count that includes them. `usage` has None for
            them.
        unread: Counts in the answer that the provider is not known to send. `usage` has None for them.
        switches: Maps the JSON pointer of each thinking switch to its value in the recorded request, or to None if the
            request does not set it.
    """

    stated: frozenset[str]
    ids: tuple[str | None, ...] = ()
    times: tuple[str | None, ...] = ()
    model: str | None = None
    request_id: str | None = None
    message: str = ""
    message_is_json: bool = False
    reasoning: str | None = None
    reasoning_source: Literal["native", "tag"] = "native"
    segments: tuple[Segment, ...] = ()
    annotations: tuple[ExpectedAnnotation, ...] = ()
    attachments: tuple[Mapping[str, Any], ...] = ()
    tool_calls: tuple[ExpectedToolCall, ...] = ()
    usage: Usage | None = None
    usage_with_compactions: Usage | None = None
    oversized: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    finish_reasons: tuple[str | None, ...] = ()
    raw_finish_reasons: tuple[str | None, ...] = ()
    refusal: str = ""
    error: str | None = None
    fault: Unreported = ""
    retry_after: str | None = None
    may_raise: tuple[str, ...] = ()
    unknown: str | None = None
    beside_unknown: int | None = None
    shows_early: frozenset[str] = frozenset()
    offset_unit: OffsetUnit = "none"
    round_trip: RoundTripRequirement | None = None
    switches: Mapping[str, Any] = field(default_factory=dict)

    @property
    def early_kinds(self) -> frozenset[str]:
        """The kinds of deltas that can show the content in `shows_early`. Text between tags may be reasoning."""
        is_between_tags = "text" in self.shows_early and self.reasoning_source == "tag"
        return self.shows_early | ({"reasoning"} if is_between_tags else frozenset())

    def allows(self, error: str | None) -> bool:
        """Return True if an adapter may raise an error of this class of the contract instead of returning a response.

        LLMError in `may_raise` allows all classes. `error` is None for an error that has no class of the contract.
        """
        return error is not None and (error in self.may_raise or LLMError.__name__ in self.may_raise)


def read_expected(document: Mapping[str, Any], mode: Mode) -> Expected:
    """Return what a scenario file states for one mode. Keys below the mode's name override the common keys.

    If an answer omits `segments`, its segments are `plain_segments`. With `segments: null`, segments are not stated.
    """
    values = {key: value for key, value in document.items() if key not in MODES} | document.get(mode, {})
    has_plain_segments = "message" in values and "error" not in values and "segments" not in values
    if "segments" in values and values["segments"] is None:
        del values["segments"]
    usage = values.get("usage")
    expected = Expected(
        **{key: value for key, value in values.items() if key in _PLAIN},
        stated=frozenset(values),
        ids=_several(values.get("id")),
        times=_several(values.get("created")),
        segments=tuple(Segment(**segment) for segment in values.get("segments", ())),
        annotations=tuple(ExpectedAnnotation(**annotation) for annotation in values.get("annotations", ())),
        attachments=tuple(values.get("attachments", ())),
        tool_calls=tuple(map(_tool_call, values.get("tool_calls", ()))),
        usage=None if usage is None else Usage(**usage),
        finish_reasons=_several(values.get("finish_reason")),
        raw_finish_reasons=_several(values.get("raw_finish_reason")),
        may_raise=tuple(values.get("may_raise", ())),
    )
    return with_plain_segments(expected) if has_plain_segments else expected


def _tool_call(stated: Mapping[str, Any]) -> ExpectedToolCall:
    names, arguments = _several(stated["name"]), stated["arguments"]
    has_object = not isinstance(arguments, str)
    text = json.dumps(arguments, ensure_ascii=False) if has_object else arguments
    own = {**stated, "name": names[0], "other_names": names[1:], "arguments": text, "has_object": has_object}
    return ExpectedToolCall(**own)


def with_plain_segments(expected: Expected) -> Expected:
    """Return the expected values with `plain_segments` as stated segments."""
    return replace(expected, segments=plain_segments(expected), stated=expected.stated | {"segments"})


def plain_segments(expected: Expected) -> tuple[Segment, ...]:
    """Return the segments of an answer that has all of its reasoning first, then its text, then its tool calls."""
    segments = [Segment("reasoning", expected.reasoning)] if expected.reasoning else []
    segments += [Segment("text", expected.message)] if expected.message else []
    segments += [Segment("tool_call", "") for _ in expected.tool_calls]
    return tuple(segments)


def _several(value: Any) -> tuple[str | None, ...]:
    return tuple(value) if isinstance(value, list) else (cast("str | None", value),)


# The keys whose values are used unchanged.
_PLAIN = frozenset(
    {
        *("model", "request_id", "message", "message_is_json", "refusal", "reasoning"),
        *("reasoning_source", "error", "fault", "retry_after", "unknown"),
    }
)
