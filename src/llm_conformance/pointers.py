"""JSON pointers (RFC 6901): read a value, or copy a document with or without one."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_POINTER = re.compile(r"(/([^/~]|~[01])+)+")


def is_well_formed(pointer: str) -> bool:
    """Return True if a text is a JSON pointer to a part of a document. Pointers with empty keys count as mistakes."""
    return bool(_POINTER.fullmatch(pointer))


@functools.lru_cache(maxsize=4096)
def keys(pointer: str) -> tuple[str, ...]:
    """Return the keys of a pointer, unescaped."""
    return tuple(raw.replace("~1", "/").replace("~0", "~") for raw in pointer.split("/")[1:])


def at_pointer(document: Any, pointer: str) -> Any:
    """Return the value at a pointer; None if nothing is there."""
    for key in keys(pointer):
        if isinstance(document, list) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            return None
    return document


def placed(document: Any, pointer: str, value: Any) -> Any:
    """Return a copy of a document with a value at a pointer. Missing lists (for numbers) and objects are created."""
    return _placed(document, keys(pointer), value)


def _placed(place: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    key, rest = path[0], path[1:]
    if key.isdigit() and not isinstance(place, Mapping):
        items = list(place or ())
        items += [{} for _ in range(int(key) + 1 - len(items))]
        items[int(key)] = _placed(items[int(key)] or None, rest, value)
        return items
    inner = (place or {}).get(key)
    return {**(place or {}), key: _placed(inner, rest, value)}


def without(document: Mapping[str, Any], pointers: Iterable[str]) -> dict[str, Any]:
    """Return a copy of an object without the values at the pointers."""
    result: dict[str, Any] = _copy(document)
    for pointer in sorted(pointers, reverse=True):  # from the end, so that positions in a list stay right
        parent = at_pointer(result, pointer.rpartition("/")[0])
        key = keys(pointer)[-1]
        if isinstance(parent, list) and key.isdigit() and int(key) < len(parent):
            del parent[int(key)]
        elif isinstance(parent, dict):
            parent.pop(key, None)
    return result


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value
