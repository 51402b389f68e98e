"""Compare values and texts, and show them in messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, and no True in one is a 1 in the other (1.0 may be: JSON has one number)."""
    pairs = [(one, other)] if one == other else []
    for left, right in pairs:  # grows while it is walked: values may be nested deeper than calls can be
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
    """Return the value of a JSON text. Anything else, text that is not JSON included, is returned as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def show(value: Any) -> str:
    """Return a value as JSON, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=shown)
    except (TypeError, ValueError):  # a key that is no text, or a value that contains itself
        text = shown(value)
    return text if len(text) <= 200 else f"{text[:140]} ... {text[-40:]}"


def shown(value: Any) -> str:
    """Return an object of an adapter's as Python shows it, or that it cannot be shown."""
    try:
        return repr(value)
    except Exception as error:
        return f"(a {type(value).__name__}, whose repr raises {type(error).__name__})"


def encodable(text: str) -> str:
    """Return a text that can be written anywhere: half a surrogate pair, as a broken adapter may give, is escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
