"""The small choices that generators make. Strategies are cached: to create one takes longer than to draw from it."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T", bound=Hashable)


def some(draw: DrawFn) -> bool:
    """Draw True in one of three cases, for things that providers sometimes do. False is simpler."""
    return pick(draw, False, False, True)


def either(draw: DrawFn) -> bool:
    """Draw True or False, both equally often."""
    return pick(draw, False, True)


def at_most(draw: DrawFn, most: int) -> int:
    """Draw a number from 0 to `most`."""
    return draw(_numbers(most))


def pick(draw: DrawFn, *ways: T) -> T:
    """Draw one of several ways; the first is the simplest."""
    chosen: T = draw(_one_of(*ways))
    return chosen


@functools.cache
def _numbers(most: int) -> SearchStrategy[int]:
    return st.integers(0, most)


@functools.lru_cache(maxsize=None, typed=True)  # else True and 1 would be the same
def _one_of(*ways: T) -> SearchStrategy[T]:
    return st.sampled_from(ways)
