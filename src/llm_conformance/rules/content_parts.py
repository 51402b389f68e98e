"""Where an answer whose content may be a list of parts, such as Mistral's, goes on in another part.

The parts have no index, and each document of a stream has a list of its own. Segments may begin where a part does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from llm_conformance.rules.segments import Outline
from llm_conformance.wire.answers import documents
from llm_conformance.wire.interaction import Interaction

_KINDS = {"text": "text", "thinking": "reasoning"}


def part_ends(interaction: Interaction) -> Mapping[str, Collection[int]]:
    """Return the offsets (code points) in the whole text, and in the whole reasoning, at which another part begins.

    In a stream, a part goes on in the next document, unless another part is between.
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
                lengths[kind] += len("".join(_texts(part)))
    return ends


def joined_at(outline: Outline, ends: Mapping[str, Collection[int]] | None = None) -> Outline:
    """Return an outline in which neighbours of one type are joined where a part ends; without `ends`, everywhere."""
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
    """Return the content of a document of the first choice as a list of parts."""
    for choice in document.get("choices") or () if isinstance(document, Mapping) else ():
        content = (choice.get("message") or choice.get("delta") or {}).get("content")
        if not choice.get("index"):
            return [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    return []


def _texts(part: Mapping[str, Any]) -> Iterator[str]:
    inner = part[part["type"]]
    if isinstance(inner, str):
        yield inner
    else:
        yield from (each.get("text") or "" for each in inner)
