"""The table of provider facts (`providers.toml`): one row an API of a provider, each with its sources."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from llm_conformance.contract import Usage

COUNTS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "audio_prompt_tokens",
    "audio_completion_tokens",
)
"""The canonical token counts."""


@dataclass(frozen=True, eq=False)
class Provider:
    """One row of the table; `providers.toml` says what each column means."""

    id: str
    api: str
    base_urls: tuple[str, ...]
    path: str
    wire: str
    reasoning_fields: tuple[str, ...]
    offset_unit: str
    tool_arguments: str
    end_marker: str
    sources: tuple[str, ...]
    usage: Mapping[str, tuple[str, ...]]
    finish: Mapping[str, str | None]

    def path_of(self, uri: str) -> str | None:
        """Return what follows the SDK's base URL in `uri`, query included; None if `uri` is no call of this API."""
        for base in sorted(self.base_urls, key=len, reverse=True):
            if uri.startswith(base + "/"):
                return uri[len(base) :]
        return None

    def normalise(self, raw: Mapping[str, Any]) -> Usage | None:
        """Apply the usage algebra to a provider's usage object; None when it reports no count."""
        counts = {key: _total(raw, pointers) for key, pointers in self.usage.items()}
        if all(value is None for value in counts.values()):
            return None
        if counts.get("total_tokens") is None:
            counts["total_tokens"] = _sum_if_known(counts.get("prompt_tokens"), counts.get("completion_tokens"))
        return Usage(**counts, raw=raw)


@functools.cache
def table() -> Mapping[tuple[str, str], Provider]:
    """Return the rows by (provider, api)."""
    document = tomllib.loads(files("llm_conformance").joinpath("providers.toml").read_text("utf-8"))
    rows = (_row(row) for row in document["provider"])
    return {(row.id, row.api): row for row in rows}


def _row(row: dict[str, Any]) -> Provider:
    return Provider(
        id=row["id"],
        api=row["api"],
        base_urls=tuple(row["base_urls"]),
        path=row["path"],
        wire=row["wire"],
        reasoning_fields=tuple(row["reasoning_fields"]),
        offset_unit=row["offset_unit"],
        tool_arguments=row["tool_arguments"],
        end_marker=row["end_marker"],
        sources=tuple(row["sources"]),
        usage={count: tuple(pointers) for count, pointers in row["usage"].items()},
        finish={word: reason or None for word, reason in row["finish"].items()},
    )


def _total(raw: Mapping[str, Any], pointers: tuple[str, ...]) -> int | None:
    values = [_at(raw, pointer) for pointer in pointers]
    if not values or values[0] is None:
        return None
    return sum(value or 0 for value in values)


def _at(raw: Any, pointer: str) -> int | None:
    for key in pointer.split("/"):
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw if isinstance(raw, int) else None


def _sum_if_known(prompt: int | None, completion: int | None) -> int | None:
    return None if prompt is None or completion is None else prompt + completion
