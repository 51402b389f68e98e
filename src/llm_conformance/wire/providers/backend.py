"""Backends: servers or families of models that answer at one API, each in its own ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Backend:
    """One of several backends of an API. For what it does not state, the row of the API holds.

    Attributes:
        source: The source for its ways.
        models: The models of the row that it has; None for all. If it has none of them, its answers are recognised but
            not drawn, because too little is known about them.
        ids: Maps a kind of id to those forms of the row that it has. Without forms of `call`, it sends no tool calls.
        varies: Maps a variation to those ways of the row that it has.
        further: Fields that it always sends, besides those of the row.
    """

    source: str
    models: tuple[str, ...] | None = None
    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    varies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
