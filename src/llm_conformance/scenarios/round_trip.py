"""What a request has to carry of the answers before it, and how a request is read for that."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_conformance.compare import as_json
from llm_conformance.contract import ToolCall

_WINDOW = 40
"""Code points of a trace that are too many to stand in another text by chance."""
_STEP = 4
_LEAST = 8
"""Code points of a trace that are too few to be told from a word of somebody else."""


@dataclass(frozen=True)
class RoundTripRequirement:
    """What the provider demands of a request that follows an answer.

    Attributes:
        sent: JSON pointers into the request body, and what has to stand there; an object may have more keys.
        absent: JSON pointers to what may not be there.
        allowed: JSON pointers to texts in which a trace may stand.
        traces: The reasoning of the answers before, block by block, which is no visible text of any message.
        said: What was said in the open before, in its order: by the user, by the model, and by its tools.
        instructions: What the system message says, which each format has in a place of its own.
        calls: The model's calls of tools before, in their order.
        hidden: Names of the fields in which this provider takes reasoning, and what is sealed: all else is text.
        wire: The request's format.
        recorded: The request as it was recorded; None if it was not.
        source: Where the provider says so.
    """

    sent: Mapping[str, Any]
    absent: tuple[str, ...]
    traces: tuple[str, ...]
    said: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    hidden: frozenset[str]
    wire: str
    source: str
    allowed: tuple[str, ...] = ()
    instructions: str = ""
    recorded: Mapping[str, Any] | None = None

    def allows(self, pointer: str) -> bool:
        """Whether a trace may stand at a pointer."""
        return any(pointer == place or pointer.startswith(f"{place}/") for place in (*self.sent, *self.allowed))


def holds(there: Any, wanted: Any) -> bool:
    """Whether a value is the one wanted; an object may have more keys, and lack those that are null, a list not."""
    if isinstance(wanted, Mapping):
        return isinstance(there, Mapping) and all(holds(there.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(there, list) and len(there) == len(wanted) and all(map(holds, there, wanted))
    if isinstance(wanted, str) and isinstance(there, list):
        return _said_in_blocks(there) == wanted
    return type(there) is type(wanted) and bool(there == wanted)


def _said_in_blocks(blocks: list[Any]) -> str | None:
    """Return what blocks of text say; None if there are others: a text may stand for the one block that it is."""
    texts = [each["text"] for each in blocks if isinstance(each, Mapping) and {"text"} <= set(each) <= {"type", "text"}]
    is_all = len(texts) == len(blocks) and all(isinstance(text, str) for text in texts)
    return "".join(texts) if blocks and is_all else None


def unsaid(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> str | None:
    """Return the first of what was said before that a request lacks, or has out of its order; None if it has all.

    What is JSON may also stand there as a value, or written otherwise, as tools' results do for Gemini.
    """
    values = list(_values(request, round_trip.hidden))
    texts = (each for each in values if isinstance(each, str))
    if round_trip.instructions and not any(round_trip.instructions in text for text in texts):
        return round_trip.instructions
    place, offset = 0, 0
    for said in round_trip.said:
        found = _find(values, said, place, offset)
        if found is None:
            return said
        place, offset = found
    return None


def _find(values: Sequence[Any], said: str, place: int, offset: int) -> tuple[int, int] | None:
    """Return where what follows a text goes on: in the same value behind it, or in the next one."""
    wanted = as_json(said)
    for number in range(place, len(values)):
        value = values[number]
        if isinstance(value, str):
            start = value.find(said, offset if number == place else 0)
            if start >= 0:
                return number, start + len(said)
        if wanted is not said and as_json(value) == wanted:
            return number + 1, 0
    return None


def uncalled(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> ToolCall | None:
    """Return the first of the calls before that a request lacks, or has out of its order; None if it has all.

    A call is an object that has its name and, as a value or as JSON text, its arguments: so it is in every format.
    """
    values = _values(request, frozenset())
    made = iter([each for each in values if isinstance(each, Mapping) and "name" in each])
    for call in round_trip.calls:
        arguments = as_json(call.arguments)
        forms = [arguments, ""] if arguments == {} else [arguments]  # providers send none as "", and take it back
        if not any(each["name"] == call.name and any(as_json(it) in forms for it in each.values()) for each in made):
            return call
    return None


def _values(value: Any, hidden: frozenset[str]) -> Iterator[Any]:
    """Yield each value of a request, in its order, an object before what is in it; those hidden aside."""
    yield value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not _is_hidden(key, value, hidden):
                yield from _values(inner, hidden)
    elif isinstance(value, list):
        # What was one text may go back as several that follow each other.
        for _, run in itertools.groupby(value, key=lambda each: _said_in_blocks([each]) is not None):
            text = _said_in_blocks(list(run))
            if text is not None:
                yield text
        for inner in value:
            yield from _values(inner, hidden)


def visible_texts(request: Mapping[str, Any], hidden: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield each text of a request that is no reasoning, with its JSON pointer."""
    yield from _visible(request, "", hidden)


def _visible(value: Any, pointer: str, hidden: frozenset[str]) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not _is_hidden(key, value, hidden):
                yield from _visible(inner, f"{pointer}/{key}", hidden)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _visible(inner, f"{pointer}/{number}", hidden)


def _is_hidden(key: str, inside: Mapping[str, Any], hidden: frozenset[str]) -> bool:
    is_thought = (key == "text" and inside.get("thought")) or (key == "content" and inside.get("type") == "reasoning")
    return key in hidden or bool(is_thought)


def leaks(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each text of a request that has a piece of earlier reasoning, with its pointer."""
    known = "\n".join(
        (*round_trip.said, round_trip.instructions)
    )  # a piece of a trace that stands there too tells nothing
    pieces = {piece for trace in round_trip.traces for piece in _pieces(trace.strip()) if piece not in known}
    for pointer, text in visible_texts(request, round_trip.hidden):
        spoken = not pointer.startswith("/tools/")  # what tools are described with is the caller's
        if spoken and not round_trip.allows(pointer) and any(piece in text for piece in pieces):
            yield pointer, text


def _pieces(trace: str) -> Iterator[str]:
    if len(trace) <= _WINDOW:
        yield from (each for each in (trace,) if len(each) >= _LEAST)
        return
    for start in range(0, len(trace) - _WINDOW + _STEP, _STEP):
        yield trace[start : start + _WINDOW]
