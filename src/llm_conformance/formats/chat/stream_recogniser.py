"""Read the ways of the chunks of a stream, except for the ways of calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.chat import variations as v
from llm_conformance.formats.chat.fields import list_fields
from llm_conformance.generate.variations import Variation, emptiness_of
from llm_conformance.wire.providers.api import Api

Found = Iterator[tuple[Variation, str]]
Chunks = Sequence[Any]

_BESIDE = {
    "calls": v.BESIDE_CALLS,
    "text": v.BESIDE_TEXT,
    "reasoning": v.BESIDE_REASONING,
    "refusal": v.BESIDE_REFUSAL,
    "annotations": v.BESIDE_ANNOTATIONS,
    "details": v.BESIDE_DETAILS,
}


def kinds_of(api: Api, delta: Mapping[str, Any]) -> list[str]:
    """Return the kinds of content that a delta has, the most important first."""
    content = delta.get("content")
    parts = {part["type"] for part in content if isinstance(part, Mapping)} if isinstance(content, list) else set()
    has = {
        "calls": delta.get("tool_calls") or delta.get("function_call"),
        "text": content and (not parts or parts - {"thinking"}),
        "reasoning": any(delta.get(name) for name in api.reasoning_fields) or "thinking" in parts,
        "refusal": delta.get("refusal"),
        "audio": delta.get("audio"),
        "details": delta.get("reasoning_details"),
        "annotations": delta.get("annotations"),
        "other": delta.get("executed_tools") or delta.get("images"),
    }
    return [kind for kind, value in has.items() if value]


def choice_of(chunk: Any) -> Mapping[str, Any]:
    """Return the choice of a chunk that belongs to the answer; {} if the chunk has none."""
    choices: Sequence[dict[str, Any]] = chunk.get("choices") or ()
    return next((choice for choice in choices if not choice.get("index")), {})


def annotations_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the annotations of a message or delta that have a place in the text."""
    return [each for each in message.get("annotations") or () if (each.get(each["type"]) or {}).get("end_index")]


def ways_of_the_native_word(choice: Mapping[str, Any]) -> Found:
    """Yield the way of the upstream provider's own ("native") word, which may be beside a gateway's finish word."""
    word = choice.get("finish_reason")
    if word:
        native = choice.get("native_finish_reason", "absent")
        yield v.NATIVE_FINISH, native if native == "absent" else f"{native or 'null'} for {word}"


def ways_of_chunks(api: Api, chunks: Chunks) -> Found:
    """Yield the ways of the chunks of a stream."""
    with_choices = [chunk for chunk in chunks if chunk.get("choices")]
    others = any(choice.get("index") for chunk in with_choices for choice in chunk["choices"])
    yield v.CHOICES, "several" if others else "one"
    own = [chunk for chunk in with_choices if choice_of(chunk)]
    yield v.FIRST_CHUNK, "with choices" if chunks[0].get("choices") else "without choices"
    yield from _ways_of_counts(chunks, own)
    yield from _ways_of_deltas(api, [choice_of(chunk).get("delta") or {} for chunk in own], own)


def _ways_of_deltas(api: Api, deltas: Sequence[Mapping[str, Any]], chunks: Chunks) -> Found:
    kinds = [kinds_of(api, delta) for delta in deltas]
    words = [number for number, chunk in enumerate(chunks) if choice_of(chunk).get("finish_reason")]
    end = words[0] if words else len(chunks)
    for number, (delta, found) in enumerate(zip(deltas, kinds, strict=True)):
        if number == 0 and found:
            yield v.FIRST_DELTA, v.WITH_CONTENT if "role" in delta else v.WITHOUT_A_ROLE
        elif number == 0 and end > 0:
            yield v.FIRST_DELTA, list_fields(delta)
        elif found and found[0] in _BESIDE:
            # Annotations may be in the delta with the finish word, or in a delta with text.
            yield _BESIDE[found[0]], list_fields(delta)
        elif not found and number < end:
            yield v.EMPTY_DELTAS, list_fields(delta)
        elif not found and any(kinds):
            yield v.FINISH_DELTA, list_fields(delta)
        if "reasoning" in found:
            names = list_fields({name: delta[name] for name in api.reasoning_fields if delta.get(name)}, (), delta)
            yield from [(v.FIELDS_OF_THE_STREAM, names)] if names != v.NOTHING else []
    if kinds[1:end] and all(kinds[1:end]):
        yield v.EMPTY_DELTAS, v.NO_EMPTY_DELTAS
    yield from dict.fromkeys(each for chunk in chunks for each in ways_of_the_native_word(choice_of(chunk)))
    for number, chunk in enumerate(chunks):
        way = emptiness_of(choice_of(chunk), "finish_reason")
        if way and number < end:
            yield v.NO_FINISH_OF_AUDIO if any("audio" in found for found in kinds) else v.NO_FINISH, way
    if any(kinds):
        what = {kind for found in kinds for kind in found}
        of_text = v.FINISH_AFTER_CALLS if "calls" in what else v.FINISH
        yield v.FINISH_OF_AUDIO if "audio" in what else of_text, _finish_of(words, kinds)
        if "refusal" in what:
            yield v.REFUSALS, "given"
    yield from _ways_of_order(kinds, end)
    yield from ((v.ANNOTATION, each["type"]) for delta in deltas for each in annotations_of(delta))
    yield v.MESSAGE_SO_FAR, "in each chunk" if chunks and "message" in choice_of(chunks[0]) else "absent"
    if api.content_parts:
        yield from _ways_of_parts(deltas)


def _finish_of(words: Sequence[int], kinds: Sequence[Sequence[str]]) -> str:
    if not words:
        return "missing"
    if len(words) > 1:
        return "twice"
    return v.WITH_CONTENT if set(kinds[words[0]]) - {"annotations"} else "apart"


def _ways_of_order(kinds: Sequence[Sequence[str]], end: int) -> Found:
    text = [number for number, found in enumerate(kinds) if "text" in found]
    reasoning = [number for number, found in enumerate(kinds) if "reasoning" in found]
    cited = [number for number, found in enumerate(kinds) if "annotations" in found]
    if text and reasoning:
        yield v.TOGETHER, "together" if set(text) & set(reasoning) else "apart"
    for number in cited if text else ():
        if number == end:
            yield v.ANNOTATIONS, "at the finish"
        elif number in text:
            yield v.ANNOTATIONS, "with text"
        else:
            yield v.ANNOTATIONS, "before text" if number < text[-1] else "after text"


def _ways_of_parts(deltas: Sequence[Mapping[str, Any]]) -> Found:
    parts = [part for delta in deltas if isinstance(delta.get("content"), list) for part in delta["content"]]
    thinking = [part for part in parts if part["type"] == "thinking"]
    if not thinking:
        return
    for part in thinking:
        yield v.CLOSED, "true" if part.get("closed") else "absent"
    yield v.END_OF_THINKING, "none" if thinking[-1]["thinking"] else "empty part"
    if any(part["type"] == "text" for part in parts):
        yield v.TEXT_AFTER_PARTS, "parts"
    elif any(delta.get("content") and isinstance(delta["content"], str) for delta in deltas):
        yield v.TEXT_AFTER_PARTS, "text"


def _counts_in(chunk: Any) -> list[str]:
    places = {
        "usage": chunk.get("usage"),
        "x_groq": (chunk.get("x_groq") or {}).get("usage"),
        "choice": choice_of(chunk).get("usage"),
    }
    return [place for place, value in places.items() if value]


def _ways_of_counts(chunks: Chunks, own: Chunks) -> Found:
    counted = [chunk for chunk in chunks if _counts_in(chunk)]
    yield from [(v.COUNTS_OF_A_STREAM, way) for way in (_counts_of(counted, own),) if way]
    if counted:
        yield from ((v.PLACE_OF_COUNTS, " and ".join(_counts_in(chunk))) for chunk in counted if chunk.get("choices"))
    for chunk in chunks:
        way = emptiness_of(chunk, "usage")
        if way and chunk not in counted and chunk.get("choices"):
            yield v.NO_COUNTS, way
        without = emptiness_of(chunk, "choices")
        if chunk in counted and without:
            yield v.CHOICES_OF_COUNTS, without


def _counts_of(counted: Chunks, own: Chunks) -> str | None:
    """Return which chunks have counts; None if there is only one and it has counts, because several ways fit."""
    if not counted:
        return "never"
    apart = [chunk for chunk in counted if not chunk.get("choices")]
    ends = [chunk for chunk in own if choice_of(chunk).get("finish_reason")]
    amid = [chunk for chunk in counted if chunk in own]
    if len(amid) == len(own):
        return "always" if len(own) > 1 else None
    if not amid:
        return "apart"
    if amid == ends[:1]:
        return "at the finish and apart" if apart else "at the finish"
    last = own.index(amid[0])
    if len(amid) == 1 and not apart and ends and last > own.index(ends[0]):
        return "after the finish"
    return "now and then"
