"""Compare the segments of two responses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from llm_conformance.compare import first_difference
from llm_conformance.contract import Segment

Outline = list[tuple[str, str | None]]
"""Types of segments in order, each with its content if that is text or reasoning."""

OPAQUE_KEYS = ("signature", "redacted", "encrypted")
"""Keys of a segment's metadata whose values only the provider understands."""

_TEXTS = ("text", "reasoning")
ORDERED = (*_TEXTS, "tool_call", "other")
"""The types of segments whose order counts."""

_CONTEXT = 20
"""Code points that `shortened` keeps of the text before the first difference."""


def joined(segments: Iterable[Segment], kind: str) -> str:
    """Return the joined contents of all segments of a type."""
    return "".join(segment.content for segment in segments if segment.type == kind)


def opaque_data(segment: Segment) -> tuple[str, Mapping[str, Any]]:
    """Return a segment's type and its opaque metadata."""
    return segment.type, {key: segment.metadata[key] for key in OPAQUE_KEYS if segment.metadata.get(key)}


def outline(segments: Iterable[Segment], types: Collection[str] = ORDERED, empty: bool = True) -> Outline:
    """Return the outline of the segments of some types.

    Texts that have neither content nor opaque data are left out; without `empty`, all texts that have no content. If
    some types are left out, neighbours of one type are joined, because what was between them may be left out.
    """
    result: Outline = []
    for segment in segments:
        if segment.type not in types:
            continue
        if segment.type not in _TEXTS:
            result.append((segment.type, None))
        elif segment.content or (empty and opaque_data(segment)[1]):
            content = segment.content
            if len(types) < len(ORDERED) and result and result[-1][0] == segment.type:
                content = f"{result.pop()[1]}{content}"
            result.append((segment.type, content))
    return result


def shortened(*outlines: Outline) -> list[Outline]:
    """Return two outlines that differ in their first segment, without most of the text that both begin with."""
    first_texts = [outline[0][1] or "" for outline in outlines if outline]
    skipped = first_difference(*first_texts) - _CONTEXT if len(first_texts) == 2 else 0
    if skipped <= 0:
        return list(outlines)
    return [[(kind, f"...{text[skipped:]}" if text else text), *rest] for (kind, text), *rest in outlines]
