"""The variations of a usage object: which fields it has, and whether reasoning and sound count more than 0.

A way of `missing counts` names everything that a usage object lacks, joined by ` + `. A name is a field of the column
`usage`, such as `prompt_tokens_details/audio_tokens`, or an object with several of them, such as
`prompt_tokens_details`. With ` is null` after the name, the field is sent as null. `none` means that nothing is
missing. If fields were never missing together, no way leaves them out together.

Some providers count reasoning that they hide, some never count any, and some leave the field out if there is no
reasoning. So the provider table says how an API counts reasoning in answers with reasoning, and in answers without.
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
    """The paths of the fields and objects that a usage object lacks: those that are absent and those that are null."""

    absent: frozenset[str] = frozenset()
    nulls: frozenset[str] = frozenset()

    def __contains__(self, path: str) -> bool:
        """Return True if the field at a path, or an object that contains it, is missing."""
        return _is_within(path, self.absent | self.nulls)


def draw_missing(draw: DrawFn, api: Api, allows: Callable[[Missing], bool]) -> Missing:
    """Draw one of the API's ways to leave out counts. It is one that `allows` accepts, if there is such a way."""
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

    An API may also leave out counts that are 0. So if no way of the API names exactly the missing fields, this function
    returns the first way whose fields are all missing.

    Args:
        api: The API.
        usage: The usage object. It need not have its null fields.
        nulls: The fields that are null on the wire. They count as null even if `usage` leaves them out.
    """
    lacking = dict.fromkeys(
        part for path in api.count_paths if (part := _part({**dict.fromkeys(nulls), **usage}, path))
    )
    way = _AND.join(lacking) or _NONE
    known = ways_of(api, MISSING_COUNTS)
    if way in known or "left out" not in ways_of(api, ZERO_COUNTS):
        return way
    # Other missing fields may be counts of 0.
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
    """Whether an answer shows reasoning (as text or encrypted), sound, and words or calls. Each has a token count."""

    reasoning: bool = False
    sound: bool = False
    words: bool = False


def states(api: Api, shown: Shown) -> Mapping[str, Sequence[str]]:
    """Map the path of each field that counts reasoning or sound to its possible states, such as `counted` or `missing`.

    Answers may have sound, but requests have none. Models that speak do not reason.
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
    """Yield how a usage object counts reasoning, which fields it repeats, and how it counts sound if there is none."""
    for path in _paths(api, "reasoning_tokens"):
        is_beyond = "reasoning_tokens" in api.oversized(usage)
        yield SHOWN_REASONING if shown.reasoning else HIDDEN_REASONING, BEYOND if is_beyond else _state(usage, path)
    yield from _ways_of_repeats(api, usage)
    if not shown.sound:
        yield from ((NO_SOUND, _state(usage, path)) for count in _SOUND for path in _paths(api, count))


def repeated(api: Api) -> Iterator[tuple[str, str]]:
    """Yield (path of a field, path of the field that it may repeat) of a usage object."""
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
