"""Recogniser of OpenAI-shaped chat completions: reads which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance.formats.chat.variations import COUNTS, COUNTS_OF_A_STREAM, END_MARKER
from llm_conformance.generate.variations import Variation, emptiness_of
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.providers.api import Api


def ways_of_a_body(api: Api, body: Any) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of an answer that is not streamed."""
    yield COUNTS, emptiness_of(body, "usage") or "given"


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of a stream. Its end marker is the last of the documents."""
    chunks = [document for document in documents if document != DONE]
    yield COUNTS_OF_A_STREAM, _counts_of(chunks)
    yield END_MARKER, "sent" if documents[-1] == DONE else "missing"


def _counts_of(chunks: Sequence[Any]) -> str:
    counted = [chunk for chunk in chunks if chunk.get("usage")]
    if not counted:
        return "never"
    if len(counted) > 1:
        return "always"
    return "at the finish" if counted[0].get("choices") else "apart"
