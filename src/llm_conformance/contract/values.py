"""Turn the types of the contract into JSON values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any


def plain(value: Any) -> Any:
    """Return dataclasses and mappings as dicts and sequences as lists, at every depth; other values as they are."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


class Value:
    """The base class of the contract's dataclasses."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        result: dict[str, Any] = plain(self)
        return result
