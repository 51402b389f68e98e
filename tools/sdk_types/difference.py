"""A difference between a JSON document and a type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["unknown field", "missing field", "null", "wrong type", "unknown value", "unknown variant"]


@dataclass(frozen=True)
class Difference:
    """One difference between a document and a type: its place, its kind and the type.

    Attributes:
        pointer: The JSON pointer to the value, or to the unknown or missing field.
        kind: `null`: the type does not allow it. `unknown value`: it is not in the type's list of values. `unknown
            variant`: no member of a union has this tag.
        type: The name of the type.
        message: What was expected or found.
    """

    pointer: str
    kind: Kind
    type: str
    message: str = ""


def child(pointer: str, key: str | int) -> str:
    """Return the pointer to a field or an item of the value at `pointer`."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def shown(value: object) -> str:
    """Return a value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
