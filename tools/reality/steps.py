"""The steps of a stream: what each document has, and what the next document has, without their texts.

Documents have labels. Two events have the same label if they have the same type. Two chunks have the same label if
their deltas have the same fields, and in both the same fields are null and the same fields are empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

_TAGS = ("type", "event_type")
_INNER = ("item", "delta", "content_block", "part", "step", "message")
"""Fields of an event whose object has a type of its own."""


def steps(values: Iterable[Any]) -> set[str]:
    """Return the pairs of consecutive labels of a stream. Its start and its end count as labels."""
    labels = ["start", *map(label, values), "end"]
    return {f"{before} -> {after}" for before, after in pairwise(labels)}


def label(document: Any) -> str:
    """Return the label of a document of a stream."""
    if not isinstance(document, Mapping):
        return type(document).__name__
    tag = _tag(document)
    if tag:
        inner = [_tag(document[key]) for key in _INNER if isinstance(document.get(key), Mapping)]
        return " ".join(filter(None, [tag, *inner]))
    if isinstance(document.get("choices"), list):
        return " ".join(_of_chunk(document)) or "nothing"
    if isinstance(document.get("candidates"), list):
        return " ".join(_of_candidates(document)) or "nothing"
    if isinstance(document.get("message"), Mapping):
        return " ".join([*_of_fields(document["message"]), *(["done"] if document.get("done") else [])])
    return " ".join(_of_nested(document))


def _tag(value: Mapping[str, Any]) -> str:
    return next((value[key] for key in _TAGS if isinstance(value.get(key), str)), "")


def _of_chunk(document: Mapping[str, Any]) -> Iterator[str]:
    choices = [choice for choice in document["choices"] if isinstance(choice, Mapping)]
    if not choices:
        yield "no choice"
    for choice in choices[:1]:
        delta = choice.get("delta")
        yield from _of_fields(delta) if isinstance(delta, Mapping) else ["no delta"]
        if choice.get("finish_reason"):
            yield "finish"
    if document.get("usage"):
        yield "usage"
    if document.get("error"):
        yield "error"


def _of_candidates(document: Mapping[str, Any]) -> Iterator[str]:
    for candidate in document["candidates"][:1]:
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        for part in parts or ():
            yield "+".join(_of_fields(part))
        if candidate.get("finishReason"):
            yield "finish"


def _of_nested(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of a document, and those of the deltas in it (as in Bedrock's `contentBlockDelta`)."""
    for key, value in document.items():
        yield key
        if isinstance(value, Mapping) and isinstance(value.get("delta"), Mapping):
            yield from value["delta"]


def _of_fields(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield each field, and whether it is null or empty. For tool calls, yield which of id and index the first has."""
    for key, value in fields.items():
        if key == "tool_calls" and isinstance(value, list) and value and isinstance(value[0], Mapping):
            has = [name for name in ("id", "index") if value[0].get(name) not in (None, "")]
            yield f"tool_calls({','.join(has)})"
        else:
            yield key if value not in (None, "", []) else f"{key}={'null' if value is None else 'empty'}"
