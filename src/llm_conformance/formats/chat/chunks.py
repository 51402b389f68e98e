"""The chunks of a stream, made from deltas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.chat import variations as v
from llm_conformance.formats.chat.deltas import Delta, deltas
from llm_conformance.formats.chat.fields import written
from llm_conformance.formats.chat.message import OTHER, native_field
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import at_most, pick
from llm_conformance.generate.counts import growing
from llm_conformance.generate.variations import as_empty, choose, empty, ways_of

Fields = dict[str, Any]
ROLE = {"role": "assistant"}
_BESIDE = {
    "calls": v.BESIDE_CALLS,
    "text": v.BESIDE_TEXT,
    "reasoning": v.BESIDE_REASONING,
    "refusal": v.BESIDE_REFUSAL,
    "annotations": v.BESIDE_ANNOTATIONS,
    "details": v.BESIDE_DETAILS,
}


class _Beside:
    """The role and the empty fields that deltas have beside their content, drawn once for each kind of delta."""

    def __init__(self, draw: DrawFn, answer: Answer) -> None:
        self._draw, self._api = draw, answer.api
        self._drawn: dict[str, Fields] = {}

    def fill(self, kind: str, fields: Mapping[str, Any]) -> Fields:
        """Return a delta of a kind: the given `fields`, which have the content, and the fields beside the content."""
        if kind not in self._drawn:
            variation = _BESIDE.get(kind)
            self._drawn[kind] = written(choose(self._draw, self._api, variation), ROLE) if variation else {}
        return {**self._drawn[kind], **fields}


def chunks(draw: DrawFn, answer: Answer) -> tuple[list[Fields], int]:
    """Draw the chunks of a stream; return (chunks, index of the chunk that ends the answer)."""
    api = answer.api
    beside = _Beside(draw, answer)
    found, cited = deltas(draw, answer)
    stream = _opened(draw, answer, beside, found)
    finishing = _finish_way(draw, answer, bool(found))
    _insert_empty_deltas(draw, answer, stream, is_open=finishing != v.WITH_CONTENT)
    last = beside.fill("annotations", {"annotations": cited}) if cited else None
    if finishing == v.WITH_CONTENT:
        stream[-1] |= {"annotations": cited} if cited else {}
    elif answer.word is not None or last or not stream:
        stream.append(last or _finish_delta(draw, answer))
    end = len(stream) - 1
    words: dict[int, str | None] = {end: answer.word} if answer.word is not None else {}
    if finishing == "twice":
        stream.append(_finish_delta(draw, answer))
        words[end + 1] = answer.word
    counts = counts_way(draw, answer)
    if counts == "after the finish" and len(stream) == end + 1:
        stream.append(_finish_delta(draw, answer))
    without = choose(draw, api, v.NO_FINISH_OF_AUDIO if answer.shown.sound else v.NO_FINISH)
    result: list[Fields] = []
    for number, delta in enumerate(stream):
        word = {"finish_reason": words[number]} if number in words else as_empty(without, "finish_reason")
        native = native_field(api, answer.word_also if number in words else None)
        result.append({"choices": [{"index": 0, "delta": delta, **word, **native}]})
    if choose(draw, api, v.MESSAGE_SO_FAR) == "in each chunk":
        _add_messages(result)
    ending = result[end]
    _add_counts(draw, answer, result, end, counts)
    result = _among_others(draw, answer, result)
    if choose(draw, api, v.FIRST_CHUNK) == "without choices":
        result.insert(0, {"choices": []})
    if counts in ("apart", "at the finish and apart"):
        result.append(empty(draw, api, v.CHOICES_OF_COUNTS, "choices", []) | {"usage": answer.counts.raw})
    return result, next(number for number, chunk in enumerate(result) if chunk is ending)


def _opened(draw: DrawFn, answer: Answer, beside: _Beside, found: Sequence[Delta]) -> list[Fields]:
    """Return the deltas with the fields beside their content. Some ways put a delta without content first."""
    filled = [beside.fill(kind, fields) for kind, fields in found]
    ways = ways_of(answer.api, v.FIRST_DELTA)
    if not found:
        ways = tuple(way for way in ways if not way.startswith(v.WITH_CONTENT))
    if not ways:
        return []
    way = pick(draw, *ways)
    if not way.startswith(v.WITH_CONTENT):
        return [written(way, ROLE), *filled]
    first = filled[0]
    without_role = {name: value for name, value in first.items() if name != "role"}
    return [{**ROLE, **first} if way == v.WITH_CONTENT else without_role, *filled[1:]]


def _insert_empty_deltas(draw: DrawFn, answer: Answer, stream: list[Fields], is_open: bool) -> None:
    """Insert deltas without content after the first delta.

    Unless `is_open`, none comes after the last delta, because that has the finish word.
    """
    room = len(stream) - (0 if is_open else 1)
    way = choose(draw, answer.api, v.EMPTY_DELTAS)
    if way != v.NO_EMPTY_DELTAS and room > 0:
        for _ in range(1 + at_most(draw, 1)):
            stream.insert(1 + at_most(draw, room - 1), written(way, ROLE))


def _finish_way(draw: DrawFn, answer: Answer, has_content: bool) -> str:
    if answer.word is None:
        return "missing"
    variation = v.FINISH_AFTER_CALLS if answer.calls else v.FINISH
    way = pick(draw, *(way for way in ways_of(answer.api, variation) if way != "missing"))
    return way if has_content or way != v.WITH_CONTENT else "apart"


def _finish_delta(draw: DrawFn, answer: Answer) -> Fields:
    return written(choose(draw, answer.api, v.FINISH_DELTA), ROLE)


def counts_way(draw: DrawFn, answer: Answer) -> str:
    """Draw which chunks have token counts; `never` if the answer has none."""
    ways = [way for way in ways_of(answer.api, v.COUNTS_OF_A_STREAM) if way != "never"]
    return pick(draw, *ways) if answer.counts.usage else "never"


def _add_counts(draw: DrawFn, answer: Answer, result: list[Fields], end: int, way: str) -> None:
    """Add token counts to the chunks that have counts in this `way`, and the empty field to the other chunks."""
    counted = {
        "at the finish": [end],
        "at the finish and apart": [end],
        "after the finish": [end + 1],
        "always": range(len(result)),
        "now and then": [number for number in range(len(result)) if number in (0, end) or pick(draw, False, True)],
    }.get(way, ())
    place = choose(draw, answer.api, v.PLACE_OF_COUNTS)
    so_far = growing(draw, answer.counts, end) if any(number < end for number in counted) else []
    absent = choose(draw, answer.api, v.NO_COUNTS)
    for number, chunk in enumerate(result):
        if number in counted:
            _count(chunk, place, so_far[number] if number < end else answer.counts.raw)
        else:
            chunk |= as_empty(absent, "usage")


def _count(chunk: Fields, place: str, usage: Mapping[str, Any]) -> None:
    if "usage" in place:
        chunk["usage"] = usage
    if "x_groq" in place:
        chunk["x_groq"] = {"id": "req-1", "usage": usage}
    if "choice" in place:
        chunk["choices"][0]["usage"] = usage


def _add_messages(result: Sequence[Fields]) -> None:
    """Add the whole message so far to each chunk, as Perplexity does."""
    content = ""
    for chunk in result:
        choice = chunk["choices"][0]
        content += choice["delta"].get("content") or ""
        choice["message"] = {**ROLE, "content": content}


def _among_others(draw: DrawFn, answer: Answer, own: list[Fields]) -> list[Fields]:
    """Insert the chunks of other choices anywhere after the first chunk.

    Each repeats the counts of the chunk before it.

    The other choices have the finish word of the answer, or none if the answer has none.
    """
    result = own
    last: list[tuple[Fields, str | None]] = [({}, answer.word)] if answer.word is not None else []
    for index in range(1, answer.choices):
        at = 1
        for delta, word in [({**ROLE, "content": OTHER}, None), *last]:
            at += at_most(draw, len(result) - at)
            before = {"usage": result[at - 1]["usage"]} if "usage" in result[at - 1] else {}
            other = {"choices": [{"index": index, "delta": delta, "finish_reason": word}], **before}
            result = [*result[:at], other, *result[at:]]
            at += 1
    return result
