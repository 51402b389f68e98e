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
"""What is drawn to cut a body: ("size", bytes between two cuts), or ("weak" or "anywhere", `_PLACES`)."""

# These strategies suit bodies of any size, because creating a strategy for each size would take longer than drawing
# from it.
_PARTS = 2**20
_PLACE = st.integers(0, _PARTS - 1)
"""A place in a body, or among its weak places, in millionths (2**-20) of its length or of their number."""

_WAYS: tuple[SearchStrategy[_Way], ...] = (
    st.tuples(st.just("weak"), st.lists(_PLACE, min_size=1, max_size=12)),
    st.tuples(st.just("anywhere"), st.lists(_PLACE, max_size=12)),
    st.tuples(st.just("size"), st.integers(1, 7)),
)
_WAY = st.one_of(*_WAYS)
_WAY_OR_NONE = st.one_of(st.none(), *_WAYS)


@st.composite
def recuts(draw: DrawFn, scenario: Scenario) -> Scenario:
    """Draw another way to cut the stream of a scenario."""
    return recut(scenario, cut(draw, scenario.interactions["stream"].body))


def cut(draw: DrawFn, body: bytes) -> tuple[int, ...]:
    """Draw a way to cut a stream: byte offsets in rising order, each between two bytes of the body.

    There are few or many cuts, anywhere or in the places where parsers break. The first of these places is always cut,
    unless all pieces have the same size.
    """
    return _offsets(draw(_WAY), body)


def cut_or_none(draw: DrawFn, body: bytes) -> tuple[int, ...] | None:
    """Draw a way to cut a stream, as `cut` does, or None."""
    way = draw(_WAY_OR_NONE)
    return None if way is None else _offsets(way, body)


def _offsets(way: _Way, body: bytes) -> tuple[int, ...]:
    kind, drawn = way
    if kind == "size":
        return every(drawn, len(body))
    weak = _weak_places(body)
    possible = (kind == "weak" and weak) or range(1, len(body))
    places = {possible[place * len(possible) // _PARTS] for place in drawn} if possible else ()
    return tuple(sorted({*weak[:1], *places}))


@functools.lru_cache(maxsize=8)  # each stream is cut many times
def _weak_places(body: bytes) -> Sequence[int]:
    within = [match.start() for match in _WITHIN.finditer(body) if match.start()]
    return [*within, *(match.end() for weak in _BEHIND for match in weak.finditer(body))]
