"""Field paths. Read rules use them to name places and values in JSON documents.

`at` leads from a document to any number of places. It consists of steps, joined by `/`:

    name        the value of a field          a|b     the values of these fields, in this order
    *           each item of a list           .       the place itself

A step may have conditions on the value that it leads to: `*[type=text]`, `*[index=0|null]` (null: the field is null or
missing), `.[thought!=true]`, `*[environment/type=local]` (a nested field).

A path leads from such a place to one value:

    a/b         fields, from the place        .       the place itself
    /a/b        fields, from the document     #1      the position of the place in the first list on the way to it
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_STEP = re.compile(r"(?P<names>[^\[\]/]+)(?P<conditions>(?:\[[\w/]+!?=[^\[\]]*\])*)(?:/(?!$)|$)")
_CONDITION = re.compile(r"\[(?P<field>[\w/]+)(?P<not>!?)=(?P<values>[^\]]*)\]")
_PATH = re.compile(r"\.|#[1-9]|/?[^/#\s]+(/[^/#\s]+)*")


_EMPTY: tuple[Any, ...] = (None, "", [], {})


class Place(NamedTuple):
    """A value in a document, with the positions of the lists that lead to it (`#1`, `#2`, ...).

    It is a named tuple because a document has thousands of places, and named tuples are fast to make.
    """

    value: Any
    document: Any
    positions: tuple[int, ...] = ()

    def find(self, path: str) -> Any:
        """Return the value at a path from here; None if there is none."""
        if path.startswith("#"):
            return self.positions[int(path[1:]) - 1]
        value = self.document if path.startswith("/") else self.value
        for name in _names(path):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def holder(self, path: str) -> tuple[Any, str]:
        """Return (the object with the last field of a path, the name of that field)."""
        *parents, name = path.strip("/").split("/")
        return self.find(("/" if path.startswith("/") else "") + "/".join(parents)) if parents else self.value, name

    def first(self, paths: str | Sequence[str]) -> Any:
        """Return the first value that is not null or empty at one of several paths; None if there is none."""
        for path in (paths,) if isinstance(paths, str) else paths:
            value = self.find(path)
            if value or value not in _EMPTY:
                return value
        return None


@functools.cache
def _names(path: str) -> tuple[str, ...]:
    """Return the fields of a path."""
    return tuple(name for name in path.strip("/").split("/") if name != ".")


@dataclass(frozen=True)
class Condition:
    """A condition on a field of an object: its value has to be, or must not be, one of `values`."""

    field: str
    is_one: bool
    values: frozenset[str]

    def holds(self, value: Any) -> bool:
        """Return True if a value meets the condition. Values other than texts are compared as JSON."""
        found = value
        for name in _names(self.field):
            found = found.get(name) if isinstance(found, dict) else None
        return ((found if isinstance(found, str) else json.dumps(found)) in self.values) is self.is_one


@dataclass(frozen=True)
class Step:
    """One step of an `at`: the names of fields to follow, and the conditions on their values."""

    names: tuple[str, ...]
    conditions: tuple[Condition, ...]


def compiled(at: str) -> tuple[Step, ...]:
    """Return the steps of an `at`. Raises ValueError if it is not well formed."""
    steps, position = [], 0
    while position < len(at):
        step = _STEP.match(at, position)
        if step is None:
            raise ValueError(f"no such path: {at!r}, at {at[position:]!r}")
        conditions = (
            Condition(each["field"], not each["not"], frozenset(each["values"].split("|")))
            for each in _CONDITION.finditer(step["conditions"])
        )
        steps.append(Step(tuple(step["names"].split("|")), tuple(conditions)))
        position = step.end()
    return tuple(steps)


def problem(path: str, lists: int) -> str | None:
    """Return what is wrong with a path; None if it is well formed.

    `lists` is the number of lists that lead to its place.
    """
    if not _PATH.fullmatch(path):
        return f"{path!r} is not a path; write a/b, /a/b, #1 or ."
    if path.startswith("#") and int(path[1:]) > lists:
        return f"{path!r} is the position in list {path[1:]}, but `at` goes through {lists}"
    return None


def places(document: Any, steps: Sequence[Step]) -> Iterator[Place]:
    """Yield the places that the steps lead to, in the order of the document."""
    found = [Place(document, document)]
    for step in steps:
        found = [
            child
            for place in found
            for name in step.names
            for child in _children(place, name)
            if not step.conditions or all(condition.holds(child.value) for condition in step.conditions)
        ]
        if not found:
            break
    return iter(found)


def _children(place: Place, name: str) -> Iterable[Place]:
    value = place.value
    if name == ".":
        return (place,)
    if name == "*":
        items = value if isinstance(value, list) else ()
        return [Place(item, place.document, (*place.positions, number)) for number, item in enumerate(items)]
    inner = value.get(name) if isinstance(value, dict) else None
    return () if inner is None else (Place(inner, place.document, place.positions),)
