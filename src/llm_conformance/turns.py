"""What a request has to carry of the answers before it, and how a request is read for that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract import ToolCall

_REASONING = frozenset(
    {
        *("reasoning", "reasoning_content", "thinking", "thinking_content", "tool_plan", "summary"),
        *("signature", "data", "encrypted_content", "thoughtSignature"),
    }
)
"""Names under which requests have reasoning, in all formats, and what is sealed: all else is read as text."""

_WINDOW = 40
"""Code points of a trace that are too many to stand in another text by chance."""


@dataclass(frozen=True)
class Demand:
    """What the provider demands of a request that follows an answer.

    Attributes:
        sent: JSON pointers into the request body, and what has to stand there; an object may have more keys.
        absent: JSON pointers to what may not be there.
        allowed: JSON pointers to texts in which a trace may stand.
        traces: The reasoning of the answers before, block by block, which is no visible text of any message.
        said: What was said in the open before, in its order: by the user, by the model, and by its tools.
        instructions: What the system message says, which each format has in a place of its own.
        calls: The model's calls of tools before, in their order.
        source: Where the provider says so.
    """

    sent: Mapping[str, Any]
    absent: tuple[str, ...]
    traces: tuple[str, ...]
    said: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    source: str
    allowed: tuple[str, ...] = ()
    instructions: str = ""


def holds(there: Any, wanted: Any) -> bool:
    """Whether a value is the one wanted; an object may have more keys, and lack those that are null, a list not."""
    if isinstance(wanted, Mapping):
        return isinstance(there, Mapping) and all(holds(there.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(there, list) and len(there) == len(wanted) and all(map(holds, there, wanted))
    return type(there) is type(wanted) and bool(there == wanted)


def visible_texts(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each text of a request that is no reasoning, with its JSON pointer."""
    yield from _visible(request, "")


def _visible(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _REASONING and not (key == "text" and value.get("thought")):
                yield from _visible(inner, f"{pointer}/{key}")
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for number, inner in enumerate(value):
            yield from _visible(inner, f"{pointer}/{number}")


def unsaid(demand: Demand, request: Mapping[str, Any]) -> str | None:
    """Return the first of what was said before that a request lacks, or has out of its order; None if it has all.

    What is JSON may also stand there as a value, as tools' results do for Gemini.
    """
    texts = "\n".join(text for _, text in visible_texts(request))
    if demand.instructions not in texts:
        return demand.instructions
    position = 0
    for said in demand.said:
        place = texts.find(said, position)
        if place >= 0:
            position = place + len(said)
        elif _parsed(said) not in _objects(request):
            return said
    return None


def uncalled(demand: Demand, request: Mapping[str, Any]) -> ToolCall | None:
    """Return the first of the calls before that a request lacks, or has out of its order; None if it has all.

    A call is an object that has its name and, as a value or as JSON text, its arguments: so it is in every format.
    """
    made = iter([each for each in _objects(request) if "name" in each])
    for call in demand.calls:
        arguments = _parsed(call.arguments)
        if not any(each["name"] == call.name and arguments in map(_parsed, each.values()) for each in made):
            return call
    return None


def _parsed(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for inner in value:
            yield from _objects(inner)


def leaks(demand: Demand, request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each text of a request that has a piece of earlier reasoning, with its pointer."""
    known = "\n".join((*demand.said, demand.instructions))  # a piece of a trace that stands there too tells nothing
    pieces = {piece for trace in demand.traces for piece in _pieces(trace.strip()) if piece not in known}
    places = (*demand.sent, *demand.allowed)
    for pointer, text in visible_texts(request):
        may = any(pointer == place or pointer.startswith(f"{place}/") for place in places)
        if not may and any(piece in text for piece in pieces):
            yield pointer, text


def _pieces(trace: str) -> Iterator[str]:
    if len(trace) <= _WINDOW:
        yield from filter(None, (trace,))
        return
    for start in range(0, len(trace) - _WINDOW // 2, _WINDOW // 2):
        yield trace[start : start + _WINDOW]
