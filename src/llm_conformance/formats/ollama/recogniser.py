"""Recogniser of Ollama's native chat. It tells which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance.formats.ollama.variations import CALL_IDS, CALLS_OF_A_STREAM, LAST_LINE, THINKING_AND_TEXT
from llm_conformance.generate.variations import Variation
from llm_conformance.wire.providers.api import Api


def ways_of_a_body(api: Api, body: Any) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of a plain answer."""
    for call in body["message"].get("tool_calls") or ():
        yield CALL_IDS, _ids_of(call)


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of a stream."""
    messages = [document["message"] for document in documents]
    for message in messages:
        calls = message.get("tool_calls") or ()
        for call in calls:
            yield CALL_IDS, _ids_of(call)
        if calls:
            yield CALLS_OF_A_STREAM, "one a line" if len(calls) == 1 else "together"
    if any(message.get("thinking") for message in messages) and any(message["content"] for message in messages):
        both = any(message.get("thinking") and message["content"] for message in messages)
        yield THINKING_AND_TEXT, "in one line" if both else "apart"
    yield LAST_LINE, "with text" if messages[-1]["content"] else "without text"


def _ids_of(call: Any) -> str:
    """Return the way of one call. No server sends an id without an index, or an index without an id."""
    has = [name for name, sent in (("id", "id" in call), ("index", "index" in call["function"])) if sent]
    return " and ".join(has) or "neither"
