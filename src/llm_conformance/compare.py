"""Compare values and texts, and show them in messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def same(one: Any, other: Any) -> bool:
    """Return True if two values are equal. 1.0 equals 1, because JSON has one type of number. True does not equal 1."""
    pairs = [(one, other)] if one == other else []
    for left, right in pairs:  # grows in the loop, because values may be nested deeper than Python can recurse
        if isinstance(left, bool) != isinstance(right, bool):
            return False
        if isinstance(left, Mapping) and left is not right:
            pairs += [(left[key], right[key]) for key in left]
        elif isinstance(left, list | tuple) and left is not right:
            pairs += zip(left, right, strict=True)
    return bool(pairs)


def first_difference(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return the first position at which two sequences differ; the length of the shorter one if it is a prefix."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


def as_json(value: Any) -> Any:
    """Return the value of a JSON text. Return anything else unchanged, also a text that is not JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def show(value: Any) -> str:
    """Return a value as JSON, shortened to about 200 code points."""
    try:
        text = in_one_line(value)
    except (TypeError, ValueError):  # a key that is no text, or a value that contains itself
        text = shown(value)
    return text if len(text) <= 200 else f"{text[:140]} ... {text[-40:]}"


def without_space(text: str) -> str:
    """Return a text without its white space."""
    return "".join(text.split())


def in_one_line(value: Any) -> str:
    r"""Return a value as JSON, with invisible and control characters escaped (`\u200b`)."""
    text = json.dumps(value, ensure_ascii=False, default=shown)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def shown(value: Any) -> str:
    """Return the repr of an adapter's object; if that raises, a note about it."""
    try:
        return repr(value)
    except Exception as error:
        return f"(a {type(value).__name__}, whose repr raises {type(error).__name__})"


def encodable(text: str) -> str:
    """Return a text that UTF-8 can encode. Half of a surrogate pair, which an adapter may return, is escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
