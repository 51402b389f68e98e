"""Recogniser of OpenAI-shaped chat completions. It tells which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.chat import variations as v
from llm_conformance.formats.chat.call_recogniser import ways_of_calls, ways_of_pieces
from llm_conformance.formats.chat.fields import list_fields
from llm_conformance.formats.chat.stream_recogniser import annotations_of, ways_of_chunks, ways_of_the_native_word
from llm_conformance.generate.variations import Variation, emptiness_of
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.providers.api import Api

Found = Iterator[tuple[Variation, str]]


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer."""
    yield v.COUNTS, emptiness_of(body, "usage") or "given"
    yield v.CHOICES, "several" if any(choice.get("index") for choice in body["choices"]) else "one"
    own = next(choice for choice in body["choices"] if not choice.get("index"))
    yield from ways_of_the_native_word(own)
    message = own["message"]
    yield from _ways_of_a_message(api, message)
    yield from ways_of_calls(message.get("tool_calls") or ())


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream. Its end marker is the last of the documents."""
    chunks = [document for document in documents if document != DONE]
    yield v.END_MARKER, "sent" if documents[-1] == DONE else "missing"
    yield from ways_of_chunks(api, chunks)
    yield from ways_of_pieces(chunks)


def _ways_of_a_message(api: Api, message: Mapping[str, Any]) -> Found:
    content = message.get("content")
    shown = any(message.get(name) for name in ("refusal", "audio", "function_call"))
    no_text = emptiness_of(message, "content")
    if no_text and not shown:
        yield (v.NO_TEXT_BESIDE_CALLS if message.get("tool_calls") else v.NO_TEXT), no_text
    if message.get("refusal"):
        yield v.REFUSALS, "given"
    yield from ((v.ANNOTATION, each["type"]) for each in annotations_of(message))
    for variation, name in ((v.NO_CALLS, "tool_calls"), (v.NO_ANNOTATIONS, "annotations"), (v.NO_REFUSAL, "refusal")):
        way = emptiness_of(message, name)
        if way:
            yield variation, way
    if api.content_parts and content:
        yield from _ways_of_parts(content)
    elif api.reasoning_fields:
        has_reasoning = any(message.get(name) for name in api.reasoning_fields)
        way = list_fields(message, (*api.reasoning_fields, "reasoning_details"), api.reasoning_fields)
        yield (v.REASONING_FIELDS if has_reasoning else v.NO_REASONING), way


def _ways_of_parts(content: Any) -> Found:
    thinking = [part for part in content if part["type"] == "thinking"] if isinstance(content, list) else []
    if not thinking:
        yield v.CONTENT, "parts" if isinstance(content, list) else "text"
        return
    texts = max(len(part["thinking"]) for part in thinking)
    yield v.THINKING, "several parts" if len(thinking) > 1 else "several texts" if texts > 1 else "one text"
    for part in thinking:
        yield v.CLOSED, "true" if part.get("closed") else "absent"
