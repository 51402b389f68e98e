"""Fields of a usage object that are not always there, as the ways of `missing counts` in the provider table.

A way names a field as the column `usage` does, such as `prompt_tokens_details/audio_tokens`, or the object that has
several of them, `prompt_tokens_details`, which is then missing as a whole. With ` is null` behind, it is sent as null.
`none` is a usage object with all fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import some
from llm_conformance.generate.variations import MISSING_COUNTS, ways_of
from llm_conformance.wire.providers.api import Api

_IS_NULL = " is null"
_NONE = MISSING_COUNTS.usual


@dataclass(frozen=True)
class Missing:
    """The fields and objects that a usage object lacks: those that are absent, and those that are null."""

    absent: frozenset[str] = frozenset()
    nulls: frozenset[str] = frozenset()

    def __contains__(self, path: str) -> bool:
        """Return True if the field at a path is missing, or an object around it."""
        return _is_within(path, self.absent | self.nulls)


def draw_missing(draw: DrawFn, api: Api) -> Missing:
    """Draw what is missing from a usage object: any of the ways of the API, now and then.

    Something is missing if no answer of this API is known to have all fields.
    """
    known = ways_of(api, MISSING_COUNTS)
    ways = [way for way in known if way != _NONE and some(draw)] or list(known[: _NONE not in known])
    absent = {way for way in ways if not way.endswith(_IS_NULL)}
    nulls = {way.removesuffix(_IS_NULL) for way in ways if way.endswith(_IS_NULL)}
    placed = (path for path in nulls if not _is_within(path, absent | nulls - {path}))
    return Missing(frozenset(absent), frozenset(placed))


def optional(api: Api) -> frozenset[str]:
    """Return the fields and objects of a usage object that may be missing."""
    return frozenset(way.removesuffix(_IS_NULL) for way in ways_of(api, MISSING_COUNTS) if way != _NONE)


def missing_ways(api: Api, usage: Mapping[str, Any], nulls: Iterable[str] = ()) -> Iterator[str]:
    """Yield the ways of a usage object, each once.

    Args:
        api: The API.
        usage: The usage object. It may lack fields that are null.
        nulls: The fields of the usage object that are null and may be lacking.
    """
    paths = sorted({path.strip("-?") for paths in api.usage.values() for path in paths})
    yield from dict.fromkeys(way for path in paths if (way := _way({**dict.fromkeys(nulls), **usage}, path))) or (
        _NONE,
    )


def _way(usage: Mapping[str, Any], path: str) -> str | None:
    value: Any = usage
    names = path.split("/")
    for number, name in enumerate(names, 1):
        at = "/".join(names[:number])
        if name not in value:
            return at
        value = value[name]
        if value is None:
            return at + _IS_NULL
        if not isinstance(value, Mapping):
            return None
    return None


def _is_within(path: str, others: Iterable[str]) -> bool:
    return any(path == other or path.startswith(f"{other}/") for other in others)
