"""Compare the expected values of a recording with the values that an SDK read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from llm_conformance.scenarios.expected import Expected
from tools.read_twice.difference import Difference, shape_of, shown
from tools.read_twice.inputs import Recording

Pair = tuple[str, Any, Any]
"""(field, expected value, value that the SDK read)."""

_CLASSES: Mapping[str, str] = {
    "APITimeoutError": "TimeoutError",
    "AccessDeniedException": "AuthenticationError",
    "AuthenticationError": "AuthenticationError",
    "BadRequestError": "InvalidRequestError",
    "ConflictError": "InvalidRequestError",
    "DeadlineExceededError": "TimeoutError",
    "ForbiddenError": "AuthenticationError",
    "GatewayTimeoutError": "TimeoutError",
    "InternalServerError": "ServiceUnavailableError",
    "InternalServerException": "ServiceUnavailableError",
    "ModelTimeoutException": "TimeoutError",
    "NotFoundError": "ResourceNotFoundError",
    "OverloadedError": "ServiceUnavailableError",
    "PermissionDeniedError": "AuthenticationError",
    "RateLimitError": "RateLimitError",
    "RequestTooLargeError": "InvalidRequestError",
    "ResourceNotFoundException": "ResourceNotFoundError",
    "ServiceUnavailableError": "ServiceUnavailableError",
    "ServiceUnavailableException": "ServiceUnavailableError",
    "ThrottlingException": "RateLimitError",
    "TooManyRequestsError": "RateLimitError",
    "UnauthorizedError": "AuthenticationError",
    "UnprocessableEntityError": "InvalidRequestError",
    "ValidationException": "InvalidRequestError",
}
"""The contract's class for each error class of the SDKs. Other classes of the SDKs say no more than the status."""


def compare(recording: Recording, answer: Mapping[str, Any]) -> tuple[int, list[Difference]]:
    """Return the number of compared values, and the differences."""
    pairs = list(_pairs(recording, answer))
    return len(pairs), [_difference(recording, *pair) for pair in pairs if not _same(*pair)]


def _difference(recording: Recording, field: str, ours: Any, theirs: Any) -> Difference:
    first = ours[0] if isinstance(ours, OneOf) and ours else None if isinstance(ours, OneOf) else ours
    return Difference(
        recording.api,
        recording.id,
        recording.mode,
        field,
        shape_of(first, theirs),
        shown(ours, theirs),
        shown(theirs, first),
    )


class OneOf(tuple[Any, ...]):
    """Several values, each of which is right."""

    __slots__ = ()


def _same(field: str, ours: Any, theirs: Any) -> bool:
    return theirs in ours if isinstance(ours, OneOf) else bool(ours == theirs)


def _pairs(recording: Recording, answer: Mapping[str, Any]) -> Iterator[Pair]:
    expected, raised = recording.expected, answer.get("raised")
    if raised is not None:
        if expected.error is None:
            yield "error", None, f"{raised['class']}: {raised['message']}"
            return
        yield "error", "error", "error"
        yield from _of_errors(recording, raised)
    elif expected.error is not None:
        yield "error", expected.error, None
    else:
        yield from _of_answers(recording, answer["values"])


def _of_errors(recording: Recording, raised: Mapping[str, Any]) -> Iterator[Pair]:
    if recording.status < 400:
        return
    yield "error: status", recording.status, raised["status"]
    meaning = _CLASSES.get(raised["class"])
    if meaning is not None:
        yield "error: class", recording.expected.error, meaning
    if "retry_after" in recording.expected.stated:
        yield "error: retry-after", recording.expected.retry_after, raised["retry_after"]


def _of_answers(recording: Recording, values: Mapping[str, Any]) -> Iterator[Pair]:
    expected, facts = recording.expected, recording.facts
    stated = expected.stated
    if "id" in values and "id" in stated:
        yield "id", OneOf(expected.ids), values["id"] or None
    if "created" in values and "created" in stated:
        yield "created", OneOf(map(_second, expected.times)), _second(values["created"])
    if "model" in values:
        yield "model", facts.model, values["model"] or None
    if "text" in values:
        yield "text", *_texts(facts.text, values["text"] or "", facts.text_is_json)
    if "reasoning" in values and "reasoning" in stated:
        yield "reasoning", facts.reasoning, values["reasoning"] or ""
    if "refusal" in values:
        yield "refusal", facts.refusal, values["refusal"] or ""
    if "finish" in values and "raw_finish_reason" in stated:
        yield "finish", OneOf(expected.raw_finish_reasons), values["finish"] or None
    if "sealed" in values:
        yield "sealed", *_sealed(facts.opaque, values["sealed"])
    if "media" in values:
        yield "media", *_media(facts.media, values["media"])
    if "tool_calls" in stated:
        yield from _of_calls(expected, values["calls"])
    if "usage" in stated:
        yield from _of_counts(expected, values["usage"])
    if "citations" in values and "annotations" in stated and expected.reasoning_source == "native":
        yield from _of_citations(expected, values["citations"])


def _sealed(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, str]:
    """Return the opaque data of both sides, each joined to one text.

    If the sides have the same number of pieces, the pieces are sorted first. Else they keep the order of the wire.
    Both sides are in the standard alphabet of base64, because an SDK that returns bytes does not say which alphabet
    they had.
    """
    pieces = [[each.replace("-", "+").replace("_", "/") for each in side if each] for side in (ours, theirs)]
    is_whole = len(pieces[0]) == len(pieces[1])
    one, other = ("".join(sorted(side) if is_whole else side) for side in pieces)
    return one, other


def _media(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> tuple[Any, Any]:
    names = {name for each in theirs for name in each}
    return [{name: each.get(name) for name in names} for each in ours], list(theirs)


def _texts(ours: str, theirs: str, are_json: bool) -> tuple[Any, Any]:
    return (_parsed(ours), _parsed(theirs)) if are_json else (ours, theirs)


def _parsed(value: Any) -> Any:
    """Return the JSON value of a text, or the text if it is not JSON. Missing arguments count as an empty object."""
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        return json.loads(value or "{}", strict=False)
    except ValueError:
        return value


def _second(value: Any) -> int | None:
    """Return a time in whole seconds since 1970."""
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return int(value) if value else None


def _of_calls(expected: Expected, calls: Sequence[Mapping[str, Any]]) -> Iterator[Pair]:
    names = [each["name"] for each in calls]
    if len(calls) != len(expected.tool_calls):
        yield "calls", [each.name for each in expected.tool_calls], names
        return
    for ours, theirs in zip(expected.tool_calls, calls, strict=True):
        if "id" in theirs:
            yield "call: id", ours.id, theirs["id"] or None
        yield "call: name", OneOf((ours.name, *ours.other_names)), theirs["name"]
        yield "call: arguments", _parsed(ours.arguments), _parsed(theirs["arguments"])


def _of_counts(expected: Expected, usage: Mapping[str, Any] | None) -> Iterator[Pair]:
    ours = expected.usage
    usage = usage if usage and any(count is not None for count in usage.values()) else None
    if ours is None or usage is None:
        yield "usage", None if ours is None else dict(ours.raw), usage
        return
    for name, count in usage.items():
        if name not in expected.oversized | expected.unread:
            yield f"usage: {name}", getattr(ours, name), count


def _of_citations(expected: Expected, citations: Sequence[Mapping[str, Any]]) -> Iterator[Pair]:
    if len(citations) != len(expected.annotations):
        yield "citations", [dict(each.data) for each in expected.annotations], citations
        return
    for ours, theirs in zip(expected.annotations, citations, strict=True):
        yield "citation: span", [ours.start, ours.end], [theirs["start"], theirs["end"]]
        for name in theirs.keys() - {"start", "end"}:
            if name == "text" and ours.text is not None:
                yield "citation: text", ours.text, theirs[name]
            elif theirs[name] is not None or name in ours.data:
                yield f"citation: {name}", ours.data.get(name), theirs[name]
