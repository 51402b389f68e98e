"""Fields of a usage object that are not always there, as the ways of `missing counts` in the provider table.

A way names all that one usage object lacks, joined by ` + `: fields as the column `usage` names them, such as
`prompt_tokens_details/audio_tokens`, or the object that has several of them, `prompt_tokens_details`, which is then
missing as a whole. With ` is null` behind, it is sent as null. `none` is a usage object with all fields. Fields that
were never missing together are not left out together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate.variations import MISSING_COUNTS, ZERO_COUNTS, choose, ways_of
from llm_conformance.wire.providers.api import Api

_IS_NULL = " is null"
_AND = " + "
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
    """Draw what is missing from a usage object: one of the ways of the API."""
    parts = _parts(choose(draw, api, MISSING_COUNTS))
    nulls = frozenset(part.removesuffix(_IS_NULL) for part in parts if part.endswith(_IS_NULL))
    return Missing(frozenset(part for part in parts if not part.endswith(_IS_NULL)), nulls)


def optional(api: Api) -> frozenset[str]:
    """Return the fields and objects of a usage object that may be missing."""
    parts = (part for way in ways_of(api, MISSING_COUNTS) for part in _parts(way))
    return frozenset(part.removesuffix(_IS_NULL) for part in parts)


def _parts(way: str) -> list[str]:
    return [] if way == _NONE else way.split(_AND)


def missing_way(api: Api, usage: Mapping[str, Any], nulls: Iterable[str] = ()) -> str:
    """Return the way of a usage object.

    Args:
        api: The API.
        usage: The usage object. It may lack fields that are null.
        nulls: The fields of the usage object that are null and may be lacking.
    """
    lacking = dict.fromkeys(
        part for path in api.count_paths if (part := _part({**dict.fromkeys(nulls), **usage}, path))
    )
    way = _AND.join(lacking) or _NONE
    known = ways_of(api, MISSING_COUNTS)
    if way in known or "left out" not in ways_of(api, ZERO_COUNTS):
        return way
    # Any other field that is missing may be one that is 0.
    return next((each for each in known if lacking.keys() >= set(_parts(each))), way)


def _part(usage: Mapping[str, Any], path: str) -> str | None:
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
