"""JSON pointers (RFC 6901) into documents: reading, and making a copy with or without what stands at one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def keys(pointer: str) -> list[str]:
    """Return the keys of a pointer, unescaped."""
    return [raw.replace("~1", "/").replace("~0", "~") for raw in pointer.split("/")[1:]]


def at_pointer(document: Any, pointer: str) -> Any:
    """Return the value at a pointer, None if there is none."""
    for key in keys(pointer):
        if isinstance(document, list) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            return None
    return document


def placed(document: Any, pointer: str, value: Any) -> Any:
    """Return a document with a value at a pointer; what leads there is made, lists for numbers, objects for names."""
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
    """Return an object without what stands at the pointers."""
    result: dict[str, Any] = _copy(document)
    for pointer in sorted(pointers, reverse=True):  # a later item of a list goes first
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
