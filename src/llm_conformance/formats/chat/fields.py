"""Write the role and the empty fields of an object as a list, such as `role, content empty`.

Such a list is a way of a variation (`variations`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from llm_conformance.formats.chat.variations import NOTHING

LISTS = frozenset(("tool_calls", "annotations", "reasoning_details", "reasoning_steps", "images"))
"""The fields whose JSON value is a list; all others are text."""

STEPS = "reasoning_steps"
"""Perplexity's field: a list of steps, each with a thought."""


def list_fields(fields: Mapping[str, Any], only: Collection[str] = (), filled: Collection[str] = ()) -> str:
    """Return the list of an object's empty fields. If `only` is not empty, other fields are left out.

    `role` and the fields in `filled` are also listed if they have content, by name alone. `role` comes first; the
    others are sorted.
    """
    return ", ".join(_listed(fields, only, filled)) or NOTHING


def _listed(fields: Mapping[str, Any], only: Collection[str], filled: Collection[str]) -> Iterator[str]:
    for name in sorted(fields, key=lambda name: (name != "role", name)):
        value = fields[name]
        if only and name not in only:
            continue
        if value is None:
            yield f"{name} null"
        elif value in ("", []):
            yield f"{name} empty"
        elif name in filled or name == "role":
            yield name


def named(way: str) -> Iterator[tuple[str, str]]:
    """Yield (field, `null` or `empty`) for each empty field in a list, and (field, "") for each field with content."""
    for each in way.split(", ") if way != NOTHING else ():
        name, _, state = each.partition(" ")
        yield name, state


def written(way: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object that a list describes; `values` has the content of the fields with content."""
    return {
        name: None if state == "null" else ([] if name in LISTS else "") if state == "empty" else values[name]
        for name, state in named(way)
    }


def fill_names(way: str) -> tuple[str, ...]:
    """Return the names of the fields in a list that have content."""
    return tuple(name for name, state in named(way) if not state)
