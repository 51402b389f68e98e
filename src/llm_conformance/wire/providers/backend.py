"""Backends: servers, or families of models, that answer at one API in ways of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Backend:
    """One of several that answer at an API. What it does not state is as the row of the API says.

    Attributes:
        source: Where its ways are known from.
        models: Those models of the row that it has, None for all. If it has none of them, its answers are recognised
            and not drawn: too little is known of them.
        ids: Those forms of ids of the row that it has, by kind. Without forms of `call` it sends no tool calls.
        varies: Those ways of the row that it has, by variation.
        further: Fields that it always sends, besides those of the row.
    """

    source: str
    models: tuple[str, ...] | None = None
    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    varies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
