"""What a request has to have from earlier answers, and how to find this in a request of any format."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_conformance.compare import as_json
from llm_conformance.contract import ToolCall

_WINDOW = 40
"""How many code points of a trace have to occur in a text to count as a leak. A trace is the reasoning of one block."""
_STEP = 4
_LEAST = 8
"""In code points. A shorter trace may be an ordinary word, so it is not looked for."""


@dataclass(frozen=True)
class RoundTripRequirement:
    """What the provider requires of a request that follows an answer.

    Attributes:
        sent: Maps JSON pointers to the values that the request must have there. `matches` compares them.
        absent: JSON pointers to places that the request must not have.
        traces: The reasoning of earlier answers, block by block. It must not be in the visible text of the request.
        texts: The visible texts of user, model and tools, in order.
        calls: The earlier tool calls, in order.
        hidden: Names of the fields in which the provider accepts reasoning and encrypted data. Texts in all other
            fields are visible.
        wire: The wire format of the request.
        source: Where the provider documents the requirement.
        allowed: JSON pointers to texts in which a trace is allowed.
        instructions: The system message, which has its own place in each format.
        recorded: The recorded request, if there is one.
    """

    sent: Mapping[str, Any]
    absent: tuple[str, ...]
    traces: tuple[str, ...]
    texts: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    hidden: frozenset[str]
    wire: str
    source: str
    allowed: tuple[str, ...] = ()
    instructions: str = ""
    recorded: Mapping[str, Any] | None = None

    def allows(self, pointer: str) -> bool:
        """Return True if a trace is allowed at a pointer."""
        return any(pointer == place or pointer.startswith(f"{place}/") for place in (*self.sent, *self.allowed))


def matches(actual: Any, expected: Any) -> bool:
    """Return True if `actual` matches `expected`.

    Objects in `actual` may have extra keys, and may lack keys whose expected value is None. Lists must have the same
    length and match item by item. Any list of text blocks matches an expected text, or list of text blocks, with the
    same joined text.
    """
    return first_mismatch(actual, expected) is None


def first_mismatch(actual: Any, expected: Any, pointer: str = "") -> tuple[str, Any, Any] | None:
    """Return (JSON pointer, expected, actual) of the first place that does not match; None if all match."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        inner = ((f"{pointer}/{key}", actual.get(key), value) for key, value in expected.items())
        return next(filter(None, (first_mismatch(has, value, where) for where, has, value in inner)), None)
    if isinstance(actual, list):
        texts = _text_of_blocks(expected) if isinstance(expected, list) else expected
        if isinstance(texts, str) and _text_of_blocks(actual) == texts:
            return None
        if isinstance(expected, list) and len(actual) == len(expected):
            pairs = enumerate(zip(actual, expected, strict=True))
            found = (first_mismatch(has, value, f"{pointer}/{at}") for at, (has, value) in pairs)
            return next(filter(None, found), None)
    same = type(actual) is type(expected) and bool(actual == expected)
    return None if same else (pointer, expected, actual)


def _text_of_blocks(blocks: list[Any]) -> str | None:
    """Return the joined text of a list of text blocks; None if the list is empty or has any other item."""
    texts = [
        block["text"] for block in blocks if isinstance(block, Mapping) and {"text"} <= set(block) <= {"type", "text"}
    ]
    is_text = len(texts) == len(blocks) and all(isinstance(text, str) for text in texts)
    return "".join(texts) if blocks and is_text else None


def first_missing_text(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> str | None:
    """Return the first earlier text that a request lacks or has out of order; None if it has all of them.

    A text that is JSON may be in the request as a JSON value (Gemini's tool results), or as JSON in another notation.
    """
    values = list(_values(request, round_trip.hidden))
    request_texts = (value for value in values if isinstance(value, str))
    if round_trip.instructions and not any(round_trip.instructions in text for text in request_texts):
        return round_trip.instructions
    position, offset = 0, 0
    for text in round_trip.texts:
        end = _find(values, text, position, offset)
        if end is None:
            return text
        position, offset = end
    return None


def _find(values: Sequence[Any], text: str, position: int, offset: int) -> tuple[int, int] | None:
    """Find a text from a place on. Return the place after the text as (index of the value, offset), or None."""
    parsed = as_json(text)
    for number in range(position, len(values)):
        value = values[number]
        if isinstance(value, str):
            start = value.find(text, offset if number == position else 0)
            if start >= 0:
                return number, start + len(text)
        if parsed is not text and as_json(value) == parsed:
            return number + 1, 0
    return None


def first_missing_call(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> ToolCall | None:
    """Return the first earlier tool call that a request lacks or has out of order; None if it has all of them.

    In every format, a call is an object with its name and its arguments, as a value or as JSON text.
    """
    values = _values(request, frozenset())
    named = iter([value for value in values if isinstance(value, Mapping) and "name" in value])
    for call in round_trip.calls:
        arguments = as_json(call.arguments)
        forms = [arguments, ""] if arguments == {} else [arguments]  # some providers write "" for no arguments
        if not any(
            each["name"] == call.name and any(as_json(value) in forms for value in each.values()) for each in named
        ):
            return call
    return None


def _values(value: Any, hidden: frozenset[str]) -> Iterator[Any]:
    """Yield every value of a request outside of hidden fields, in order; an object comes before its contents."""
    yield value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not _is_hidden(key, value, hidden):
                yield from _values(inner, hidden)
    elif isinstance(value, list):
        # One text may go back as several text blocks in a row.
        for _, run in itertools.groupby(value, key=lambda item: _text_of_blocks([item]) is not None):
            text = _text_of_blocks(list(run))
            if text is not None:
                yield text
        for inner in value:
            yield from _values(inner, hidden)


def visible_texts(request: Mapping[str, Any], hidden: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield (JSON pointer, text) of every text in a request outside of hidden fields."""
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


def _is_hidden(key: str, parent: Mapping[str, Any], hidden: frozenset[str]) -> bool:
    is_thought = (key == "text" and parent.get("thought")) or (key == "content" and parent.get("type") == "reasoning")
    return key in hidden or bool(is_thought)


def leaks(round_trip: RoundTripRequirement, request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (JSON pointer, text) of every visible text in a request into which earlier reasoning has leaked."""
    # A piece that also occurs in a visible text of the conversation does not prove a leak.
    visible = "\n".join((*round_trip.texts, round_trip.instructions))
    pieces = {piece for trace in round_trip.traces for piece in _pieces(trace.strip()) if piece not in visible}
    for pointer, text in visible_texts(request, round_trip.hidden):
        is_message = not pointer.startswith("/tools/")  # the caller describes the tools
        if is_message and not round_trip.allows(pointer) and any(piece in text for piece in pieces):
            yield pointer, text


def _pieces(trace: str) -> Iterator[str]:
    if len(trace) <= _WINDOW:
        yield from (piece for piece in (trace,) if len(piece) >= _LEAST)
        return
    for start in range(0, len(trace) - _WINDOW + _STEP, _STEP):
        yield trace[start : start + _WINDOW]
