"""The truth of a scenario: what a correct adapter returns for one recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from llm_conformance.contract import Segment, ToolCall, Usage
from llm_conformance.scenarios.round_trip import RoundTripRequirement
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers.api import OffsetUnit


@dataclass(frozen=True)
class ExpectedAnnotation:
    """A citation that must come back: `text` is the annotated text, None when unanchored."""

    start: int | None
    end: int | None
    text: str | None
    data: Mapping[str, Any]
    may_be_unanchored: bool = False


@dataclass(frozen=True)
class Expected:
    """What a correct adapter returns for one recording.

    `stated` names the keys that the scenario file has. `shows_early`, which is read from the bytes, names what the
    stream has before its last frame: `text`, or the capability that it takes to show it. `offset_unit` is how the
    provider counts the annotations' offsets. A message may or may not end with the `refusal`; one that `is_json` only
    has to be equal as JSON. An `error` is what the provider says, unless it comes of a `fault`: a body that is no
    answer, or the connection. `retry_after` is in seconds, as the header has it. `demand` is about the request, as are
    the `switches`, by JSON pointer; None for one that is not set.
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
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    finish_reasons: tuple[str | None, ...] = ()
    raw_finish_reasons: tuple[str | None, ...] = ()
    refusal: str = ""
    error: str | None = None
    fault: Literal["", "malformed", "connection"] = ""
    retry_after: str | None = None
    may_raise: tuple[str, ...] = ()
    unknown: str | None = None
    shows_early: frozenset[str] = frozenset()
    offset_unit: OffsetUnit = "none"
    round_trip: RoundTripRequirement | None = None
    switches: Mapping[str, Any] = field(default_factory=dict)


def read_expected(document: Mapping[str, Any], mode: Mode) -> Expected:
    """Return the truth of one mode: the common keys, overridden by those under the mode's name."""
    stated = {key: value for key, value in document.items() if key not in MODES} | document.get(mode, {})
    usage = stated.get("usage")
    return Expected(
        **{key: value for key, value in stated.items() if key in _PLAIN},
        stated=frozenset(stated),
        ids=_several(stated.get("id")),
        times=_several(stated.get("created")),
        segments=tuple(Segment(**segment) for segment in stated.get("segments", ())),
        annotations=tuple(ExpectedAnnotation(**annotation) for annotation in stated.get("annotations", ())),
        attachments=tuple(stated.get("attachments", ())),
        tool_calls=tuple(ToolCall(**call) for call in stated.get("tool_calls", ())),
        usage=None if usage is None else Usage(**usage),
        finish_reasons=_several(stated.get("finish_reason")),
        raw_finish_reasons=_several(stated.get("raw_finish_reason")),
        may_raise=tuple(stated.get("may_raise", ())),
    )


def _several(value: Any) -> tuple[str | None, ...]:
    return tuple(value) if isinstance(value, list) else (cast("str | None", value),)


_PLAIN = frozenset(
    {
        *("model", "request_id", "message", "message_is_json", "refusal", "reasoning"),
        *("reasoning_source", "error", "fault", "retry_after", "unknown"),
    }
)
