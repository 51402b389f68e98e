"""Turn the types of the contract into JSON values."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})


def plain(value: Any) -> Any:
    """Return dataclasses and mappings as dicts, and sequences as lists, at every depth. Other values stay unchanged."""
    kind: type = type(value)
    if kind in _ATOMS:  # nearly all values; the checks below take ten times as long
        return value
    if kind is dict:
        return {key: item if type(item) in _ATOMS else plain(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [item if type(item) in _ATOMS else plain(item) for item in value]
    names = _fields(kind)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


@functools.cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of a dataclass; None for any other class."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


class Value:
    """The base class of the contract's dataclasses."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        result: dict[str, Any] = plain(self)
        return result
