"""Compare the segments of two responses.

If an API's content may be a list of parts (Mistral), a segment may begin wherever a part begins. The parts have no
index, and each document of a stream has its own list of parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from llm_conformance.compare import first_difference
from llm_conformance.contract import Segment
from llm_conformance.wire.answers import documents
from llm_conformance.wire.interaction import Interaction

Outline = list[tuple[str, str | None]]
"""Types of segments in order, each with its content if that is text or reasoning."""

REPEATS_OTHERS = "RSN-3"
"""The rule about segments. Segments repeat other fields, so the rule also fails if those fields are wrong."""
OPAQUE_KEYS = ("signature", "redacted", "encrypted")
"""Keys of a segment's metadata whose values only the provider understands."""

_TEXTS = ("text", "reasoning")
_KINDS = {"text": "text", "thinking": "reasoning"}
"""Maps the type of a content part to the type of its segment."""
ORDERED = (*_TEXTS, "tool_call", "other")
"""The types of segments whose order counts."""

_CONTEXT = 20
"""How many code points `shortened` keeps before the first difference."""


def joined(segments: Iterable[Segment], kind: str) -> str:
    """Return the joined contents of all segments of a type."""
    return "".join(segment.content for segment in segments if segment.type == kind)


def opaque_data(segment: Segment) -> tuple[str, Mapping[str, Any]]:
    """Return a segment's type and its opaque metadata."""
    return segment.type, {key: segment.metadata[key] for key in OPAQUE_KEYS if segment.metadata.get(key)}


def outline(segments: Iterable[Segment], types: Collection[str] = ORDERED, empty: bool = True) -> Outline:
    """Return the outline of the segments whose type is in `types`.

    Leaves out text and reasoning without content, unless `empty` is True and they have opaque data. If `types` lacks a
    type, neighbours of the same type are joined, because a segment of the missing type may be between them.
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
    """Return two outlines without most of the text that both begin with. Their first segments have to differ."""
    first_texts = [outline[0][1] or "" for outline in outlines if outline]
    skipped = first_difference(*first_texts) - _CONTEXT if len(first_texts) == 2 else 0
    if skipped <= 0:
        return list(outlines)
    return [[(kind, f"...{text[skipped:]}" if text else text), *rest] for (kind, text), *rest in outlines]


def part_ends(interaction: Interaction) -> Mapping[str, Collection[int]]:
    """Return the offsets (code points) at which parts begin in the whole text and in the whole reasoning.

    The keys are `text` and `reasoning`. In a stream, the first part of a document goes on with the part before it.
    """
    lengths = dict.fromkeys(_KINDS.values(), 0)
    ends: dict[str, set[int]] = {kind: set() for kind in lengths}
    for content in filter(None, map(_content, documents(interaction))):
        for number, part in enumerate(content):
            kind = _KINDS.get(part["type"])
            if number or kind is None:
                for each, length in lengths.items():
                    ends[each].add(length)
            if kind is not None:
                lengths[kind] += len("".join(_texts_of(part)))
    return ends


def joined_at(outline: Outline, ends: Mapping[str, Collection[int]] | None = None) -> Outline:
    """Return an outline with neighbours of one type joined where a part ends; if `ends` is None, everywhere."""
    result: Outline = []
    lengths = dict.fromkeys(_KINDS.values(), 0)
    for kind, content in outline:
        if kind in lengths and result and result[-1][0] == kind and (ends is None or lengths[kind] in ends[kind]):
            result[-1] = (kind, f"{result[-1][1]}{content}")
        else:
            result.append((kind, content))
        if kind in lengths:
            lengths[kind] += len(content or "")
    return result


def _content(document: Any) -> list[Any]:
    """Return the content of the first choice in a document as a list of parts."""
    for choice in document.get("choices") or () if isinstance(document, Mapping) else ():
        content = (choice.get("message") or choice.get("delta") or {}).get("content")
        if not choice.get("index"):
            return [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    return []


def _texts_of(part: Mapping[str, Any]) -> Iterator[str]:
    inner = part[part["type"]]
    if isinstance(inner, str):
        yield inner
    else:
        yield from (each.get("text") or "" for each in inner)
