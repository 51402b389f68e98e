"""Ways to cut the bytes of a stream into the pieces that a client reads."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.scenarios.scenario import Scenario, recut
from llm_conformance.wire.named_cuts import every

# Where parsers break, the worst first: inside a character, a line end, an escape, a field name, a tag.
_WEAK = (rb"[\x80-\xbf]", rb"(?<=\r)\n", rb"(?<=\n)\n", rb"(?<=\\)[u\"n]", rb"(?<=data)[: ]", rb"(?<=<)/?t|(?<=k)>")


@st.composite
def recuts(draw: DrawFn, scenario: Scenario) -> Scenario:
    """Draw another way to cut the stream of a scenario."""
    return recut(scenario, draw(cuts(scenario.interactions["stream"].body)))


def cuts(body: bytes) -> SearchStrategy[tuple[int, ...]]:
    """Return ways to cut a stream: byte offsets in rising order, each between two bytes of the body.

    There are few cuts or many, anywhere or in the places where parsers break.
    """
    last = len(body) - 1
    if last < 1:
        return st.just(())
    places = [match.start() for weak in _WEAK for match in re.finditer(weak, body) if match.start()]
    anywhere = st.lists(st.integers(1, last), max_size=12, unique=True)
    ways = [anywhere.map(_in_order), st.integers(1, 7).map(lambda size: every(size, len(body)))]
    if places:
        weak = st.lists(st.integers(0, len(places) - 1), min_size=1, max_size=12, unique=True)
        ways.insert(0, weak.map(lambda numbers: _in_order(places[number] for number in numbers)))
    return st.one_of(ways)


def _in_order(offsets: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(offsets)))
