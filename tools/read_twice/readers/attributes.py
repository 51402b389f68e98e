"""Read attributes of an SDK's objects."""

from __future__ import annotations

from typing import Any


def at(value: Any, *names: str) -> Any:
    """Return the attribute at a path of names; None where one is missing, None or an `UNSET` of the SDK."""
    for name in names:
        value = getattr(value, name, None)
        if value is None or type(value).__name__ == "Unset":
            return None
    return value


def word(value: Any) -> str | None:
    """Return a text or the value of an enum as text."""
    return None if value is None else str(getattr(value, "value", value))


def added(*counts: int | None) -> int | None:
    """Return the sum of the counts that are there; None if the first one is missing."""
    return None if counts[0] is None else sum(each or 0 for each in counts)
