"""The fields of a document, as claims: which are there, what they hold, and words from closed lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_DEEPEST = 12
_TAGS = ("type", "event_type", "object")
"""Fields that say which kind of event or block an object is."""
_FREE = frozenset(
    {
        *("args", "arguments", "input", "parameters", "parametersJsonSchema", "properties", "schema", "metadata"),
        *("action", "labels", "headers", "response", "tools"),
    }
)
"""Fields whose objects are not looked into.

People chose the names in them, each tool has a form of its own, or the object repeats the request.
"""
_NESTED = frozenset({"response"})
"""Fields of `_FREE` that are looked into if their objects have a type."""
_WORDS = re.compile(
    r"(?i)(reason|status|type|role|object|modality|tier|phase|format|level|state|mode|probability|category"
    r"|channel|kind|caller|code|outcome|execution)$"
)
"""The names of fields with a word from a closed list."""
_WORD = re.compile(r"[A-Za-z][\w.-]{0,60}")
_COUNTS = re.compile(r"(?i)(tokens?|count)")
"""Fields with counts. In other fields, 0 means no more than another number."""


BLOCKS = ("item", "delta", "content_block", "part", "step", "message", "annotation", "citation", "content", "error")
"""Fields that hold the object of an event or a block. This object has a type."""


class Field(NamedTuple):
    """A claim about a field.

    Attributes:
        text: The path of the field with what it holds, or with its word.
        is_read: Whether a read rule reads the field. Types of events and blocks count as read.
        is_word: Whether `text` has the word of the field.
    """

    text: str
    is_read: bool
    is_word: bool = False


def fields(document: Any, read: frozenset[tuple[int, str]] = frozenset()) -> Iterator[Field]:
    """Yield each field of a document, with what it holds: `usage/total_tokens: a number`.

    If an object has a type, the path names the type: `content/*[tool_use]/id: text`. `read` has the fields that a read
    rule reads, as (`id()` of their object, name).
    """
    yield from _of(document, "", 0, read)


def tag_of(value: Any) -> str:
    """Return the type that an object states, "" if it states none."""
    if not isinstance(value, Mapping):
        return ""
    return next((value[key] for key in _TAGS if isinstance(value.get(key), str)), "")


def state(value: Any) -> str:
    """Return what a field holds, without its value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return "a number" if value else "0"
    kind = "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
    return kind if value else f"empty {kind.removeprefix('a ').removeprefix('an ')}"


def _of(value: Any, path: str, depth: int, read: frozenset[tuple[int, str]]) -> Iterator[Field]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _of(item, f"{path}/*" if path else "*", depth + 1, read)
    if not isinstance(value, Mapping):
        return
    tag = tag_of(value)
    own = f"{path}[{tag}]" if tag else path
    if tag:
        name = path.rpartition("/")[2]
        yield Field(own, is_read=name in ("", "*", *BLOCKS), is_word=True)
    for key, inner in value.items():
        if key in _TAGS and inner == tag:
            continue
        where = f"{own}/{key}" if own else key
        held = state(inner)
        yield Field(f"{where}: {held if held != '0' or _COUNTS.search(key) else 'a number'}", (id(value), key) in read)
        if isinstance(inner, str) and _WORDS.search(key) and _WORD.fullmatch(inner):
            yield Field(f"{where} = {inner}", key in _TAGS or (id(value), key) in read, is_word=True)
        is_json = key == "content" and isinstance(inner, Mapping) and not tag_of(inner) and "parts" not in inner
        if not is_json and (key not in _FREE or (key in _NESTED and tag_of(inner))):
            yield from _of(inner, where, depth + 1, read)
