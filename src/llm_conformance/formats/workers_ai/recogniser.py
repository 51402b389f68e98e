"""Recogniser of Cloudflare Workers AI, native. It tells which ways of the format an answer has.

The generator draws neither chat completions in the envelope nor objects of JSON mode. So these have no ways here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.workers_ai import variations as v
from llm_conformance.generate.answers import style_of
from llm_conformance.generate.variations import ARGUMENTS, Variation, emptiness_of
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.providers.api import Api

Found = Iterator[tuple[Variation, str]]
Fields = Mapping[str, Any]


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer."""
    result = body["result"]
    if "choices" in result or isinstance(result.get("response"), dict):
        return
    calls = result.get("tool_calls") or ()
    yield from _ways_of_an_answer([result], calls)
    yield v.COUNTS, emptiness_of(result, "usage") or "given"
    no_text = emptiness_of(result, "response")
    if calls and no_text:
        yield v.NO_TEXT_BESIDE_CALLS, no_text
    for call in calls:
        style = style_of(call["function"]["arguments"]) if "function" in call else None
        if style:
            yield ARGUMENTS, style


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream. Its end marker is the last of the documents."""
    chunks = [document for document in documents if document != DONE]
    if any("choices" in chunk for chunk in chunks):
        return
    yield v.END_MARKER, "sent" if documents[-1] == DONE else "missing"
    pieces = [piece for chunk in chunks for piece in chunk.get("tool_calls") or ()]
    # A piece without a name continues the last call.
    yield from _ways_of_an_answer(chunks, [piece for piece in pieces if _name(piece)])
    yield from _ways_of_functions([piece for piece in pieces if "function" in piece])
    for chunk in chunks:
        no_text = emptiness_of(chunk, "response")
        if chunk.get("tool_calls"):
            yield v.TEXT_OF_A_CALL, no_text or "with text"
    counted = [bool(chunk.get("usage")) for chunk in chunks]
    *before, last = counted
    if any(before):
        yield v.COUNTS_OF_A_STREAM, "in each chunk" if all(counted) else "in some chunks"
    else:
        yield v.COUNTS_OF_A_STREAM, "at the end" if last else "never"
    padded = ["p" in chunk for chunk in chunks[:-1]]
    if "p" in chunks[-1]:
        yield v.PADDING, "in the last chunk"
    elif padded:
        yield v.PADDING, "given" if all(padded) else "in some chunks" if any(padded) else "absent"


def _ways_of_an_answer(documents: Sequence[Fields], calls: Sequence[Fields]) -> Found:
    has_word = any(document.get("finish_reason") for document in documents)
    for call in calls:
        form = "functions" if "function" in call else v.FLAT_WITH_AN_ID if "id" in call else v.FLAT
        yield v.CALLS, f"{form} and a finish word" if has_word else form
    if not calls:
        is_null = not has_word and any("finish_reason" in document for document in documents)
        yield v.FINISH_WORD, "given" if has_word else "null" if is_null else "absent"
    for document in documents:
        response = document.get("response")
        if response not in (None, ""):
            yield v.RESPONSE, "text" if isinstance(response, str) else "number"


def _ways_of_functions(pieces: Sequence[Fields]) -> Found:
    if not pieces:
        return
    arguments: dict[int, str] = {}
    for piece in pieces:
        sent = piece["function"].get("arguments") or ""
        if _name(piece):
            yield v.PIECES, "whole" if sent else "in pieces"
        arguments[piece["index"]] = arguments.get(piece["index"], "") + sent
    for style in filter(None, map(style_of, arguments.values())):
        yield ARGUMENTS, style
    last = pieces[-1]
    yield v.LAST_PIECE, "nulls" if "name" in last["function"] and not _name(last) else "none"


def _name(piece: Fields) -> str | None:
    name: str | None = piece["function"].get("name") if "function" in piece else piece["name"]
    return name
