"""Read attributes of an SDK's objects."""

from __future__ import annotations

from typing import Any


def at(value: Any, *names: str) -> Any:
    """Follow a path of attribute names. Return None if an attribute is missing, None or an `UNSET` of the SDK."""
    for name in names:
        value = getattr(value, name, None)
        if value is None or type(value).__name__ == "Unset":
            return None
    return value


def word(value: Any) -> str | None:
    """Return a text, or the value of an enum, as text."""
    return None if value is None else str(getattr(value, "value", value))


def added(*counts: int | None) -> int | None:
    """Return the sum of the counts. If the first count is missing, return None; another missing count is 0."""
    return None if counts[0] is None else sum(each or 0 for each in counts)
