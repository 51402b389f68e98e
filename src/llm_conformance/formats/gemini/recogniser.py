"""Recogniser of Gemini's generateContent. It tells which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance.formats.gemini.variations import (
    ARGUMENTS,
    BROKEN_OFF,
    CALL_IDS,
    CALL_SIGNATURES,
    COUNTS_ALONE,
    COUNTS_OF_A_STREAM,
    FINISH_MESSAGE,
    INDEX,
    LAST_CHUNK,
    NO_ARGUMENTS,
    NO_GROUNDING,
    NO_PARTS,
    PARTS,
    TEXT_SIGNATURE,
)
from llm_conformance.generate.variations import Variation
from llm_conformance.wire.providers.api import Api

Found = Iterator[tuple[Variation, str]]


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer. A blocked prompt has no candidate."""
    yield from _ways(api, [body])


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream: those of a body, and those that tell which chunk has what."""
    yield from _ways(api, documents)
    candidates = [candidate for document in documents for candidate in _candidates(document)]
    calls = [part["functionCall"] for part in _parts(candidates) if "functionCall" in part]
    if calls:
        yield ARGUMENTS, "whole" if all("willContinue" not in call for call in calls) else "in pieces"
    if any(len(_parts([candidate])) > 1 for candidate in candidates):
        yield PARTS, "several"
    elif len(list(_parts(candidates))) > 1:
        yield PARTS, "one"
    if len(candidates) > 1 and not _broken_off(api, candidates[-1]):
        yield LAST_CHUNK, _last(_parts(candidates[-1:]))
    early = [document["usageMetadata"] for document in documents[:-1] if "usageMetadata" in document]
    if early:
        counted = all(any(name.endswith("TokenCount") for name in usage) for usage in early)
        yield COUNTS_OF_A_STREAM, "always" if counted else "at the end"
    if candidates:
        yield COUNTS_ALONE, "never" if documents[0].get("candidates") else "at first"
    grounding = [candidate.get("groundingMetadata") for candidate in candidates]
    if {} in grounding:
        yield NO_GROUNDING, "empty"
    elif any(grounding) and None in grounding:
        yield NO_GROUNDING, "absent"


def _ways(api: Api, documents: Sequence[Any]) -> Found:
    candidates = [candidate for document in documents for candidate in _candidates(document)]
    for candidate in candidates:
        yield INDEX, "sent" if "index" in candidate else "absent"
        broken_off = _broken_off(api, candidate)
        if broken_off or not _parts([candidate]):
            yield broken_off or NO_PARTS, _content(candidate)
    parts = _parts(candidates)
    named = [part for part in parts if part.get("functionCall", {}).get("name")]
    for part in named:
        call = part["functionCall"]
        yield CALL_IDS, "sent" if "id" in call else "absent"
        if not call.get("args") and "willContinue" not in call and "partialArgs" not in call:
            yield NO_ARGUMENTS, "empty" if "args" in call else "absent"
    if named:
        signed = ["thoughtSignature" in part for part in named]
        first = "the first" if signed[0] and not any(signed[1:]) else "all" if all(signed) else "some"
        yield CALL_SIGNATURES, first if any(signed) else "none"
        if candidates[-1].get("finishReason") == "STOP":
            yield FINISH_MESSAGE, "sent" if "finishMessage" in candidates[-1] else "absent"
    texts = [part for part in parts if "text" in part and not part.get("thought")]
    if texts and not named:
        yield TEXT_SIGNATURE, "sent" if "thoughtSignature" in texts[-1] else "absent"


def _candidates(document: Any) -> list[Any]:
    """Return a list of the first candidate of a document; an empty list if it has none."""
    return [each for each in document.get("candidates") or () if not each.get("index")]


def _parts(candidates: Sequence[Any]) -> list[Any]:
    return [part for each in candidates for part in (each.get("content") or {}).get("parts") or ()]


def _broken_off(api: Api, candidate: Any) -> Variation | None:
    word = candidate.get("finishReason")
    return BROKEN_OFF.get(api.finish.get(str(word))) if word else None


def _content(candidate: Any) -> str:
    if _parts([candidate]):
        return "parts"
    content = candidate.get("content")
    return "no content" if content is None else "a role" if content else "an empty content"


def _last(parts: Sequence[Any]) -> str:
    if not parts:
        return "no part"
    if parts[-1].get("text") != "":
        return "a part"
    return "a signature" if "thoughtSignature" in parts[-1] else "an empty text"
