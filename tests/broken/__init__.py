"""Broken adapters: one fault each, named by it, a few lines over the reference adapters.

Each says which invariants it must fail and, for the first of them, what the failure has to say. The set is exact: the
right rules bite, for the right reason, and nothing else is red (`test_broken.py`).
"""

from __future__ import annotations

from types import ModuleType

from tests.broken import (
    citations,
    clouds,
    content,
    dialects,
    engines,
    errors,
    facts,
    framings,
    gateways,
    providers,
    replay,
    splitters,
    streams,
)
from tests.broken.kinds import Broken


def _in(module: ModuleType) -> tuple[type[Broken], ...]:
    return tuple(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Broken) and hasattr(value, "fails")
    )


BROKEN = (
    _in(content)
    + _in(citations)
    + _in(facts)
    + _in(streams)
    + _in(providers)
    + _in(splitters)
    + _in(errors)
    + _in(replay)
    + _in(clouds)
    + _in(gateways)
    + _in(engines)
    + _in(dialects)
    + _in(framings)
)
