"""Recogniser of Cohere chat, v2. It tells which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance.formats.cohere.variations import (
    BEFORE_CALLS,
    BLOCK_INDEX,
    CITATION_PLACE,
    CITATION_SOURCE,
    CITATION_TYPE,
    CONTENT,
    COUNTS_OF_A_FAILURE,
    NO_CITATIONS,
)
from llm_conformance.generate.variations import Variation, emptiness_of
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.providers.api import Api

Found = Iterator[tuple[Variation, str]]


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer."""
    message = body["message"]
    kinds = [block["type"] for block in message.get("content") or ()]
    yield _content(kinds, bool(message.get("tool_calls")), bool(message.get("tool_plan")))
    nothing = emptiness_of(message, "citations")
    if nothing:
        yield NO_CITATIONS, nothing
    for citation in message.get("citations") or ():
        yield from _citation(citation)
    yield from _counts(api, body)


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream."""
    events = [document for document in documents if document != DONE]
    starts = [event for event in events if event["type"] == "content-start"]
    kinds = [event["delta"]["message"]["content"]["type"] for event in starts]
    types = {event["type"] for event in events}
    yield _content(kinds, "tool-call-start" in types, "tool-plan-delta" in types)
    if len(starts) > 1:
        indexes = [event["index"] for event in starts]
        yield BLOCK_INDEX, "together" if indexes == list(range(len(indexes))) else "apart"
    yield from _places(events)
    for event in events:
        if event["type"] == "citation-start":
            yield from _citation(event["delta"]["message"]["citations"])
        elif event["type"] == "message-end":
            yield from _counts(api, event["delta"])


def _content(kinds: Sequence[str], has_calls: bool, has_plan: bool) -> tuple[Variation, str]:
    if not has_calls:
        return CONTENT, ", ".join(kinds) or "none"
    return BEFORE_CALLS, "tool plan" if has_plan else ", ".join(kinds) or "nothing"


def _places(events: Sequence[Any]) -> Found:
    """Yield where each citation of a text is: in its open block, right after that block, or after further blocks."""
    texts: list[int] = []  # the numbers of the text blocks
    block, is_open = -1, False
    for event in events:
        kind = event["type"]
        if kind == "content-start":
            block, is_open = block + 1, True
            texts += [block] if event["delta"]["message"]["content"]["type"] == "text" else []
        elif kind == "content-end":
            is_open = False
        elif kind == "citation-start":
            citation = event["delta"]["message"]["citations"]
            if citation.get("type", "TEXT_CONTENT") != "TEXT_CONTENT":
                continue
            cited = citation.get("content_index", texts[-1])
            is_late = any(text > cited for text in texts)
            yield CITATION_PLACE, "behind all blocks" if is_late else "in the block" if is_open else "behind the block"


def _citation(citation: Any) -> Found:
    yield CITATION_TYPE, "given" if "type" in citation else "absent"
    for source in citation.get("sources") or ():
        yield CITATION_SOURCE, source["type"]


def _counts(api: Api, end: Any) -> Found:
    if api.finish.get(end["finish_reason"]) == "error":
        yield COUNTS_OF_A_FAILURE, "given" if end.get("usage") else "absent"
