"""What a usage object has: which of its fields, and whether those of reasoning and sound are above 0.

A way of `missing counts` names all that one usage object lacks, joined by ` + `: fields as the column `usage` names
them, such as `prompt_tokens_details/audio_tokens`, or the object that has several of them, `prompt_tokens_details`,
which is then missing as a whole. With ` is null` behind, it is sent as null. `none` is a usage object with all fields.
Fields that were never missing together are not left out together.

Some providers count reasoning that they hide, some never count any, and some leave the field out of an answer without
reasoning. So a row says of both kinds of answers how their reasoning is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import pick
from llm_conformance.generate.variations import MISSING_COUNTS, ZERO_COUNTS, Variation, ways_of
from llm_conformance.pointers import at_pointer
from llm_conformance.wire.providers.api import Api

_IS_NULL = " is null"
_AND = " + "
_NONE = MISSING_COUNTS.usual

COUNTED, ZERO, BEYOND, MISSING = "counted", "0", "more than the completion", "missing"
_STATES = (COUNTED, ZERO, BEYOND, MISSING)

SHOWN_REASONING = Variation(
    "tokens of shown reasoning",
    "the count of the reasoning of an answer that shows some, in words or sealed",
    COUNTED,
    _STATES,
)
HIDDEN_REASONING = Variation(
    "tokens of hidden reasoning", "the count of reasoning beside an answer that shows none", ZERO, _STATES
)
NO_SOUND = Variation(
    "tokens of sound", "the counts of sound beside a text; a request may have had some", ZERO, (ZERO, COUNTED, MISSING)
)

REPEATED = Variation(
    "repeated counts", "a field that says again what another says, as in `details/cached = cached`", "none"
)

PART_COUNTS = (SHOWN_REASONING, HIDDEN_REASONING, NO_SOUND, REPEATED)

_SOUND = ("audio_prompt_tokens", "audio_completion_tokens")


@dataclass(frozen=True)
class Missing:
    """The counts that a usage object lacks, as paths of fields or of objects: either absent, or null."""

    absent: frozenset[str] = frozenset()
    nulls: frozenset[str] = frozenset()

    def __contains__(self, path: str) -> bool:
        """Return True if the field at a path is lacking, or if an object that contains it is."""
        return _is_within(path, self.absent | self.nulls)


def draw_missing(draw: DrawFn, api: Api, allows: Callable[[Missing], bool]) -> Missing:
    """Draw one of the API's ways to leave out counts: an allowed one, or any if none is allowed."""
    ways = [_missing(way) for way in ways_of(api, MISSING_COUNTS)]
    return pick(draw, *([way for way in ways if allows(way)] or ways))


def _missing(way: str) -> Missing:
    parts = _parts(way)
    nulls = frozenset(part.removesuffix(_IS_NULL) for part in parts if part.endswith(_IS_NULL))
    return Missing(frozenset(part for part in parts if not part.endswith(_IS_NULL)), nulls)


def optional(api: Api) -> frozenset[str]:
    """Return the fields and objects of a usage object that may be missing."""
    parts = (part for way in ways_of(api, MISSING_COUNTS) for part in _parts(way))
    return frozenset(part.removesuffix(_IS_NULL) for part in parts)


def _parts(way: str) -> list[str]:
    return [] if way == _NONE else way.split(_AND)


def missing_way(api: Api, usage: Mapping[str, Any], nulls: Iterable[str] = ()) -> str:
    """Return which counts a usage object lacks, as a way of the variation `missing counts`.

    An API may also leave out counts that are 0. So if it has no way with exactly the missing fields, this is its first
    way of which all fields are missing.

    Args:
        api: The API.
        usage: The usage object. A field that is null may be left out of it.
        nulls: The fields that are null on the wire. They count as null even if `usage` leaves them out.
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


@dataclass(frozen=True)
class Shown:
    """What an answer shows of what is counted: reasoning, in words or sealed, sound, and words or calls besides."""

    reasoning: bool = False
    sound: bool = False
    words: bool = False


def states(api: Api, shown: Shown) -> Mapping[str, Sequence[str]]:
    """Return what the fields of the usage object that count reasoning and sound may be, by path.

    Requests are drawn without sound: only an answer has some, and is then counted. Models that speak do not reason.
    """
    of_reasoning = ways_of(api, SHOWN_REASONING if shown.reasoning else HIDDEN_REASONING)
    of_reasoning = (ZERO,) if shown.sound else of_reasoning
    of_no_sound = [way for way in ways_of(api, NO_SOUND) if way != COUNTED] or [ZERO]
    found = dict.fromkeys(_paths(api, "reasoning_tokens"), of_reasoning)
    for count in _SOUND:
        is_heard = shown.sound and count == "audio_completion_tokens"
        found |= {path: (COUNTED,) if is_heard else tuple(of_no_sound) for path in _paths(api, count)}
    return found


def ways_of_parts(api: Api, usage: Mapping[str, Any], shown: Shown) -> Iterator[tuple[Variation, str]]:
    """Yield how the usage object of an answer counts reasoning, sound if it has none, and what it counts twice."""
    for path in _paths(api, "reasoning_tokens"):
        is_beyond = "reasoning_tokens" in api.oversized(usage)
        yield SHOWN_REASONING if shown.reasoning else HIDDEN_REASONING, BEYOND if is_beyond else _state(usage, path)
    yield from _ways_of_repeats(api, usage)
    if not shown.sound:
        yield from ((NO_SOUND, _state(usage, path)) for count in _SOUND for path in _paths(api, count))


def repeated(api: Api) -> Iterator[tuple[str, str]]:
    """Yield the fields of a usage object that may repeat another one: both paths, as the row says first."""
    for way in ways_of(api, REPEATED):
        again, equals, path = way.partition(" = ")
        if equals:
            yield again, path


def _ways_of_repeats(api: Api, usage: Mapping[str, Any]) -> Iterator[tuple[Variation, str]]:
    for again, path in repeated(api):
        count, same = (at_pointer(usage, f"/{each}") for each in (path, again))
        if count is not None:
            yield REPEATED, f"{again} = {path}" if same == count else "none"


def _state(usage: Mapping[str, Any], path: str) -> str:
    count = at_pointer(usage, f"/{path}")
    return MISSING if count is None else COUNTED if count else ZERO


def _paths(api: Api, count: str) -> Iterator[str]:
    return (path.strip("-?") for path in api.usage.get(count, ()))
