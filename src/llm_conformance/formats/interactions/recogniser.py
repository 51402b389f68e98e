"""Recogniser of Gemini's Interactions. It tells which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.interactions.variations import FIRST_STATUS, NO_SIGNATURE
from llm_conformance.generate.variations import Variation, emptiness_of
from llm_conformance.wire.providers.api import Api


def ways_of_a_body(api: Api, body: Any) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of a plain answer. An agent's answer may have no steps yet."""
    for step in body.get("steps") or ():
        yield from _ways_of_a_step(step)


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of a stream."""
    for document in documents:
        if not isinstance(document, Mapping):
            continue
        if document["event_type"] == "interaction.created":
            yield FIRST_STATUS, "sent" if "status" in document["interaction"] else "left out"
        if document["event_type"] == "step.start":
            yield from _ways_of_a_step(document["step"])


def _ways_of_a_step(step: Any) -> Iterator[tuple[Variation, str]]:
    nothing = emptiness_of(step, "signature") if step["type"] == "function_call" else None
    if nothing:
        yield NO_SIGNATURE, nothing
