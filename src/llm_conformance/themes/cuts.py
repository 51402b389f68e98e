"""Ways to cut the bytes of a stream into the pieces that a client reads."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.scenarios.scenario import Scenario, recut
from llm_conformance.wire.named_cuts import every

# Where parsers break, the worst first: inside a character, a line end, an escape, a field name, a tag. The cut is at
# the end of the match; inside a character, it is before the match. Each pattern starts with something rare, because
# bodies are long.
_WITHIN = re.compile(rb"[\x80-\xbf]")
_BEHIND = tuple(
    re.compile(weak) for weak in (rb"\r(?=\n)", rb"\n(?=\n)", rb"\\(?=[u\"n])", rb"data(?=[: ])", rb"<(?=/?t)|k(?=>)")
)

_Way = tuple[str, Any]
"""What is drawn to cut a body: ("size", bytes between two cuts), or (kind of place, which of these places)."""


@st.composite
def recuts(draw: DrawFn, scenario: Scenario) -> Scenario:
    """Draw another way to cut the stream of a scenario."""
    return recut(scenario, cut(draw, scenario.interactions["stream"].body))


def cut(draw: DrawFn, body: bytes) -> tuple[int, ...]:
    """Draw a way to cut a stream: byte offsets in rising order, each between two bytes of the body.

    There are few or many cuts, anywhere or in the places where parsers break.
    """
    weak = _weak_places(body)
    return _offsets(draw(_ways(len(body), len(weak))), body, weak)


def cut_or_none(draw: DrawFn, body: bytes) -> tuple[int, ...] | None:
    """Draw a way to cut a stream, as `cut` does, or None."""
    weak = _weak_places(body)
    way = draw(_ways_and_none(len(body), len(weak)))
    return None if way is None else _offsets(way, body, weak)


def _offsets(way: _Way, body: bytes, weak: Sequence[int]) -> tuple[int, ...]:
    kind, drawn = way
    if kind == "size":
        return every(drawn, len(body))
    return tuple(sorted({weak[number] for number in drawn} if kind == "weak" else drawn))


@functools.lru_cache(maxsize=8)
def _weak_places(body: bytes) -> Sequence[int]:
    within = [match.start() for match in _WITHIN.finditer(body) if match.start()]
    return [*within, *(match.end() for weak in _BEHIND for match in weak.finditer(body))]


# Cached, because each stream is cut many times, and to create a strategy takes longer than to draw from it.
@functools.lru_cache(maxsize=64)
def _ways(size: int, weak: int) -> SearchStrategy[_Way]:
    """Return the ways to cut a body of `size` bytes with `weak` places where parsers break."""
    return st.one_of(_all_ways(size, weak))


@functools.lru_cache(maxsize=64)
def _ways_and_none(size: int, weak: int) -> SearchStrategy[_Way | None]:
    return st.one_of(st.none(), *_all_ways(size, weak))


def _all_ways(size: int, weak: int) -> list[SearchStrategy[_Way]]:
    last = size - 1
    if last < 1:
        return [st.just(("anywhere", ()))]
    anywhere = st.lists(st.integers(1, last), max_size=12, unique=True)
    ways = [_named("anywhere", anywhere), _named("size", st.integers(1, 7))]
    if weak:
        ways.insert(0, _named("weak", st.lists(st.integers(0, weak - 1), min_size=1, max_size=12, unique=True)))
    return ways


def _named(kind: str, drawn: SearchStrategy[Any]) -> SearchStrategy[_Way]:
    return drawn.map(lambda value: (kind, value))
