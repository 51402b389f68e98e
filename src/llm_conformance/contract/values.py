"""How a frozen contract type becomes plain JSON values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any


def plain(value: Any) -> Any:
    """Return `value` as JSON-serialisable containers: dataclasses and mappings as dicts, sequences as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


class Value:
    """Base of the frozen contract dataclasses: adds `to_dict`."""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain JSON containers."""
        result: dict[str, Any] = plain(self)
        return result
