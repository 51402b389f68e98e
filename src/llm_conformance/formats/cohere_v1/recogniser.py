"""Recogniser of Cohere's first chat API. It tells which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance.formats.cohere_v1.variations import CITATION_EVENTS, CITATIONS, COUNTS
from llm_conformance.generate.variations import Variation
from llm_conformance.wire.providers.api import Api

Found = Iterator[tuple[Variation, str]]


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer."""
    yield COUNTS, "given" if body.get("meta", {}).get("tokens") else "absent"
    yield CITATIONS, "documents" if body.get("citations") else "none"


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream."""
    for event in documents:
        if event["event_type"] == "stream-end":
            yield from ways_of_a_body(api, event["response"])
        elif event["event_type"] == "citation-generation":
            yield CITATION_EVENTS, "together" if len(event["citations"]) > 1 else "one an event"
