"""Field paths: finding values in JSON documents by rules that are data.

A rule of the provider table says where it looks (`at`) and what stands there. `at` is a list of steps joined by `/`:

    name        a field               a|b     any of these fields, in this order
    *           each item of a list   .       the place itself

and a step may carry predicates: `*[type=text]`, `*[index=0|null]` (null: missing or null), `.[thought!=true]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(r"(?P<names>[^\[\]/]+)(?P<tests>(?:\[[^\[\]]+\])*)(?:/|$)")
_TEST = re.compile(r"\[(?P<field>\w+)(?P<not>!?)=(?P<values>[^\]]*)\]")


@dataclass(frozen=True)
class Place:
    """Where a rule looks: a value, the document it stands in, and its positions in the lists on the way."""

    value: Any
    document: Any
    positions: tuple[int, ...] = ()

    def find(self, path: str) -> Any:
        """Return what a path leads to from here, None if it leads nowhere.

        `/a/b` starts at the document, `#1` is the position in the first list on the way, `.` is the place itself.
        """
        if path.startswith("#"):
            return self.positions[int(path[1:]) - 1]
        value = self.document if path.startswith("/") else self.value
        for name in path.strip("/").split("/"):
            if name != ".":
                value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def holder(self, path: str) -> tuple[Any, str]:
        """Return the object in which a path ends, and the name of the field there."""
        *parents, name = path.strip("/").split("/")
        return self.find(("/" if path.startswith("/") else "") + "/".join(parents)) if parents else self.value, name

    def first(self, paths: str | Sequence[str]) -> Any:
        """Return what the first of several paths leads to that is there and not empty; None if none is."""
        found = (self.find(path) for path in ([paths] if isinstance(paths, str) else paths))
        return next((value for value in found if value not in (None, "", [], {})), None)


@dataclass(frozen=True)
class _Step:
    names: tuple[str, ...]
    tests: tuple[tuple[str, bool, frozenset[str]], ...]


def compiled(at: str) -> tuple[_Step, ...]:
    """Return the steps of an `at`. Raises ValueError where it is none."""
    steps, position = [], 0
    while position < len(at):
        step = _STEP.match(at, position)
        if step is None:
            raise ValueError(f"no such path: {at!r}, at {at[position:]!r}")
        tests = [
            (test["field"], not test["not"], frozenset(test["values"].split("|")))
            for test in _TEST.finditer(step["tests"])
        ]
        steps.append(_Step(tuple(step["names"].split("|")), tuple(tests)))
        position = step.end()
    return tuple(steps)


def places(document: Any, steps: Sequence[_Step]) -> Iterator[Place]:
    """Yield the places that the steps lead to, in the order of the document."""
    return _walk(Place(document, document), steps)


def _walk(place: Place, steps: Sequence[_Step]) -> Iterator[Place]:
    if not steps:
        yield place
        return
    for name in steps[0].names:
        for next_place in _children(place, name):
            if all(_holds(next_place.value, *test) for test in steps[0].tests):
                yield from _walk(next_place, steps[1:])


def _children(place: Place, name: str) -> Iterator[Place]:
    value = place.value
    if name == ".":
        yield place
    elif name == "*":
        for position, item in enumerate(value if isinstance(value, list) else ()):
            yield Place(item, place.document, (*place.positions, position))
    elif isinstance(value, Mapping) and value.get(name) is not None:
        yield Place(value[name], place.document, place.positions)


def _holds(value: Any, field: str, wanted: bool, values: frozenset[str]) -> bool:
    shown = value.get(field) if isinstance(value, Mapping) else None
    return ((shown if isinstance(shown, str) else json.dumps(shown)) in values) is wanted
