"""The deltas of a stream that have content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.chat import variations as v
from llm_conformance.formats.chat.call_pieces import call_deltas
from llm_conformance.formats.chat.fields import STEPS, fill_names
from llm_conformance.formats.chat.message import (
    cited_places,
    detail_of,
    fields_of,
    has_details,
    seal_of,
    text_of,
    text_parts,
    thinking,
)
from llm_conformance.generate import texts
from llm_conformance.generate.answers import Answer, Audio, Reasoning, Refusal
from llm_conformance.generate.generator import CREATED
from llm_conformance.generate.variations import choose

Fields = dict[str, Any]
Delta = tuple[str, Fields]
"""(kind of content, fields) of a delta."""


def deltas(draw: DrawFn, answer: Answer) -> tuple[list[Delta], Sequence[Mapping[str, Any]]]:
    """Draw the deltas with content; return (deltas, annotations for the chunk with the finish word)."""
    api, cited = answer.api, cited_places(answer)
    where = choose(draw, api, v.ANNOTATIONS) if cited else ""
    reasoning, text = (_of_parts if api.content_parts else _of_fields)(draw, answer)
    sealed = [("details", {"reasoning_details": [_sealing(answer)]})] if seal_of(answer) else []
    if reasoning and text and not sealed and choose(draw, api, v.TOGETHER) == "together":
        together = _together(reasoning.pop()[1], text.pop(0)[1])
        text = [("text", together), *text]
    if where == "with text":
        text[-1][1]["annotations"] = cited
    apart: list[Delta] = [("annotations", {"annotations": cited})]
    found = [
        *reasoning,
        *sealed,
        *(apart if where == "before text" else ()),
        *text,
        *(apart if where == "after text" else ()),
    ]
    for block in answer.blocks:
        if isinstance(block, Audio):
            found += [("audio", delta) for delta in _of_audio(draw, block)]
        elif isinstance(block, Refusal):
            found += [("refusal", {"refusal": piece}) for piece in texts.pieces(draw, block.text)]
    found += [("calls", delta) for delta in call_deltas(draw, answer)]
    return found, cited if where == "at the finish" else ()


def _of_fields(draw: DrawFn, answer: Answer) -> tuple[list[Delta], list[Delta]]:
    """Draw (deltas of the reasoning, deltas of the text), for reasoning in a field of its own."""
    api, reasoning = answer.api, text_of(answer, Reasoning)
    found: list[Delta] = []
    if reasoning:
        names = fill_names(fields_of(draw, api, v.FIELDS_OF_THE_STREAM))
        for piece in texts.pieces(draw, reasoning):
            fields = {name: [{"thought": piece}] if name == STEPS else piece for name in names}
            found.append(("reasoning", fields | _detailed(answer, piece)))
    return found, [("text", {"content": piece}) for piece in texts.pieces(draw, answer.sent)]


def _detailed(answer: Answer, piece: str) -> Fields:
    return {"reasoning_details": [detail_of(piece)]} if has_details(answer.api) else {}


def _of_parts(draw: DrawFn, answer: Answer) -> tuple[list[Delta], list[Delta]]:
    """Draw (deltas of the reasoning, deltas of the text), for reasoning as parts of the content."""
    api, reasoning = answer.api, text_of(answer, Reasoning)
    parts = thinking(draw, api, reasoning, whole=False)
    plain = not reasoning or choose(draw, api, v.TEXT_AFTER_PARTS) == "text"
    text = [("text", {"content": part["text"] if plain else [part]}) for part in text_parts(draw, answer.sent)]
    return [("reasoning", {"content": [part]}) for part in parts], text


def _together(reasoning: Fields, text: Fields) -> Fields:
    """Join the last delta of the reasoning and the first delta of the text."""
    before, content = reasoning.get("content"), text["content"]
    if before is None:
        return reasoning | text
    return {"content": [*before, *(content if isinstance(content, list) else [{"type": "text", "text": content}])]}


def _sealing(answer: Answer) -> Fields:
    """Return the last piece of a detail, which has only the signature."""
    return {"type": "reasoning.text", "signature": seal_of(answer), "format": "unknown", "index": 0}


def _of_audio(draw: DrawFn, audio: Audio) -> Iterator[Fields]:
    yield {"audio": {"id": "audio-1"}}
    for piece in texts.pieces(draw, audio.transcript):
        yield {"audio": {"transcript": piece}}
    for piece in texts.pieces(draw, audio.data):
        yield {"audio": {"data": piece}}
    yield {"audio": {"expires_at": CREATED}}
