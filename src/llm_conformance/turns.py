"""What a request has to carry of the answers before it, and how a request is read for that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_VISIBLE = frozenset({"content", "text", "input"})
"""Fields of a message, in any format, that the model and the user read as its text."""


@dataclass(frozen=True)
class Demand:
    """What the provider demands of a request that follows an answer.

    Attributes:
        sent: JSON pointers into the request body, and what has to stand there; an object may have more keys.
        absent: JSON pointers to what may not be there.
        traces: The reasoning of the answers before, which is no visible text of any message.
        source: Where the provider says so.
    """

    sent: Mapping[str, Any]
    absent: tuple[str, ...]
    traces: tuple[str, ...]
    source: str


def holds(there: Any, wanted: Any) -> bool:
    """Whether a value is the one wanted; an object may have more keys than that one, a list no more items."""
    if isinstance(wanted, Mapping):
        return isinstance(there, Mapping) and all(key in there and holds(there[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(there, list) and len(there) == len(wanted) and all(map(holds, there, wanted))
    return type(there) is type(wanted) and bool(there == wanted)


def visible_texts(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each text of a request that is read as what somebody said, with its JSON pointer."""
    yield from _visible(request, "")


def _visible(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        if value.get("thought") or value.get("type") in ("thinking", "reasoning"):
            return
        for key, inner in value.items():
            if isinstance(inner, str) and key in _VISIBLE:
                yield f"{pointer}/{key}", inner
            else:
                yield from _visible(inner, f"{pointer}/{key}")
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for number, inner in enumerate(value):
            yield from _visible(inner, f"{pointer}/{number}")
