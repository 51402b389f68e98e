"""Backends: servers or families of models behind one API, each of which answers in its own ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Backend:
    """One of several backends of an API. What it does not state is as in the row of the API.

    Attributes:
        source: The source for its ways.
        models: The models of the row that it has; None for all, () for none. The answers of a backend without models
            are recognised but never generated, because too little is known about them.
        ids: Maps a kind of id to the forms of the row that it has. A backend without forms of `call` sends no tool
            calls.
        varies: Maps a variation to the ways of the row that it has.
        further: Fields that it always sends, besides those of the row.
    """

    source: str
    models: tuple[str, ...] | None = None
    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    varies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
