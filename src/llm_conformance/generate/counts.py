"""Token counts as a provider reports them, and the canonical counts that follow from them.

A canonical count is the sum of some of the provider's fields. The provider table says which. This module draws numbers
for these fields.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.contract import Usage
from llm_conformance.generate.chance import at_most, pick, some
from llm_conformance.generate.count_ways import (
    BEYOND,
    COUNTED,
    MISSING,
    REPEATED,
    ZERO,
    Missing,
    Shown,
    draw_missing,
    optional,
    repeated,
    states,
)
from llm_conformance.generate.variations import ZERO_COUNTS, choose
from llm_conformance.pointers import placed
from llm_conformance.wire.providers.api import PARTS, Api

_WHOLES = ("prompt_tokens", "completion_tokens")
_NUMBERS = st.integers(0, 4000)
_NOTHING = Missing()
_NOTHING_SHOWN = Shown()


@dataclass(frozen=True)
class Counts:
    """Token counts.

    Attributes:
        fields: Maps the path (`a/b`) of each field of the provider's usage object to its number.
        usage: The canonical counts; None if there are no fields.
        missing: The fields and objects that the usage object lacks.
        optional: Paths of fields and objects that may be missing.
        growing: Paths of the fields that grow during a stream.
        totals: Paths of the fields that are totals.
        summed: Paths of the fields that add up to totals.
        keeps_zeros: Whether fields that are 0 are sent.
    """

    fields: Mapping[str, int]
    usage: Usage | None
    missing: Missing = _NOTHING
    optional: frozenset[str] = frozenset()
    growing: frozenset[str] = frozenset()
    totals: frozenset[str] = frozenset()
    summed: frozenset[str] = frozenset()
    keeps_zeros: bool = True

    @property
    def raw(self) -> dict[str, Any]:
        """The provider's usage object."""
        return nested({**self.fields, **dict.fromkeys(sorted(self.missing.nulls))})


@functools.cache  # to create a strategy takes longer than to draw from it
@st.composite
def counts(draw: DrawFn, api: Api, shown: Shown = _NOTHING_SHOWN) -> Counts:
    """Draw the token counts of an answer; `shown` says what the answer shows. Fields may be missing as the table says.

    If the answer has words, they count at least one token in addition to reasoning. Unless the table says otherwise,
    the parts of a count add up to at most the count. If several fields make up the count, the first of them is the
    limit.
    """
    keeps_zeros = choose(draw, api, ZERO_COUNTS) == "sent"
    possible = states(api, shown)
    missing = draw_missing(draw, api, functools.partial(_allows, possible))
    sent = {path: [way for way in ways if way != MISSING] or [ZERO] for path, ways in possible.items()}
    drawn = {path: pick(draw, *ways) for path, ways in sent.items() if path not in missing}
    fields: dict[str, int] = {}
    reserved = {"prompt_tokens": 0, "completion_tokens": int(shown.words)}
    wholes: dict[str, Any] = {
        whole: _whole(draw, api.usage.get(whole, ()), fields, missing, drawn, least=1 + reserved[whole])
        for whole in _WHOLES
    }
    prompt, completion = (wholes[whole] for whole in _WHOLES)
    known = None if prompt is None or completion is None else prompt + completion
    for path in api.usage.get("total_tokens", ()):
        if known is not None:  # a total is missing only if the prompt is missing, too (Gemini)
            fields[path] = known
    summed = {path.strip("-?") for whole in _WHOLES for path in api.usage.get(whole, ())}
    left = {whole: _most(api.usage.get(whole, ()), fields) - reserved[whole] for whole in _WHOLES}
    parts: dict[str, Any] = {}
    for part, whole in PARTS.items():
        for path in api.usage.get(part, ()):
            # If a whole is the sum of parts, these have already been drawn, or are missing.
            if path not in summed and wholes[whole] is not None and path not in missing:
                fields[path] = _part(draw, drawn.get(path), wholes[whole], left[whole])
                left[whole] -= min(left[whole], fields[path])
            parts[part] = fields.get(path) if keeps_zeros else fields.get(path) or None
            if drawn.get(path) == BEYOND:
                parts[part] = None
    fields |= api.repeats(nested(fields))
    if not keeps_zeros:
        fields = {path: count for path, count in fields.items() if count}
    again = choose(draw, api, REPEATED)
    fields |= {other: fields[path] for other, path in repeated(api) if again == f"{other} = {path}" and path in fields}
    growing = {path.rstrip("?") for path in api.usage.get("completion_tokens", ()) if not path.startswith("-")}
    completion_parts = [part for part, whole in PARTS.items() if whole == "completion_tokens"]
    growing |= {path for part in completion_parts for path in api.usage.get(part, ())}
    totals = frozenset(api.usage.get("total_tokens", ()))
    if not fields:
        return Counts({}, None)
    return Counts(
        fields=fields,
        usage=Usage(**wholes, **parts, total_tokens=known),
        missing=missing,
        optional=optional(api) - summed - totals,
        growing=frozenset(growing) - totals,
        totals=totals,
        summed=frozenset(summed),
        keeps_zeros=keeps_zeros,
    )


def _allows(possible: Mapping[str, Sequence[str]], missing: Missing) -> bool:
    """Return True if the missing fields may be missing and the other fields may be present."""
    return all(MISSING in ways if path in missing else {*ways} - {MISSING} for path, ways in possible.items())


def _part(draw: DrawFn, state: str | None, whole: int, left: int) -> int:
    """Draw a part of the count `whole`. The other parts leave `left` of it. A `state` of None allows any number."""
    if state == BEYOND:
        return whole + 1 + draw(_NUMBERS)
    most = 0 if state == ZERO else left * at_most(draw, 4) // 4
    return max(most, min(left, 1)) if state == COUNTED else most


def _whole(
    draw: DrawFn,
    paths: tuple[str, ...],
    fields: dict[str, int],
    missing: Missing,
    drawn: Mapping[str, str],
    least: int,
) -> int | None:
    """Draw the fields that add up to a count. Add them to `fields`, and return the sum.

    The first field is at least `least`, and large enough to subtract the fields with a `-`. If a field without a `?` is
    missing, returns None.
    """
    taken = [fields[path.strip("-")] for path in paths if path.startswith("-") and path.strip("-") in fields]
    if taken:
        rest: int = draw(_NUMBERS) + least
        fields[paths[0]] = sum(taken) + rest
        return rest
    present = [path.rstrip("?") for path in paths if path.strip("-?") not in missing and not path.startswith("-")]
    # A prompt has at least one token. So has an answer: the token that ends it.
    at_least = {path: 1 for path in present if drawn.get(path) == COUNTED} | dict.fromkeys(present[:1], least)
    fields |= {path: 0 if drawn.get(path) == ZERO else draw(_NUMBERS) + at_least.get(path, 0) for path in present}
    is_whole = paths and all(path.endswith("?") or path.strip("-") not in missing for path in paths)
    return sum(fields[path] for path in present) if is_whole else None


def _most(paths: tuple[str, ...], fields: Mapping[str, int]) -> int:
    """Return the most that the parts of a count may add up to: its first field minus the fields with a `-`."""
    taken = sum(fields.get(path.strip("-"), 0) for path in paths if path.startswith("-"))
    return fields.get(paths[0].rstrip("?"), 0) - taken if paths else 0


def growing(draw: DrawFn, counts: Counts, times: int) -> list[dict[str, Any]]:
    """Draw the usage objects that a stream reports before its end, one for each of `times` frames.

    Counts of the completion and totals grow. Optional fields may be missing.
    """
    quarters = sorted(at_most(draw, 4) for _ in range(times))
    return [nested(dict(_so_far(draw, counts, quarter))) for quarter in quarters]


def _so_far(draw: DrawFn, counts: Counts, quarter: int) -> Iterator[tuple[str, int]]:
    still_missing = 0
    missing = Missing(frozenset(path for path in sorted(counts.optional) if some(draw)))
    for key, value in counts.fields.items():
        so_far = value * quarter // 4 if key in counts.growing else value
        still_missing += value - so_far if key in counts.summed else 0
        is_sent = bool(so_far) or counts.keeps_zeros
        if key not in counts.totals and is_sent and key not in missing:
            yield key, so_far
    for key in counts.totals & counts.fields.keys():
        if counts.keeps_zeros or counts.fields[key] > still_missing:
            yield key, counts.fields[key] - still_missing


def nested(fields: Mapping[str, int | None]) -> dict[str, Any]:
    """Return an object with the given values at their paths."""
    result: dict[str, Any] = {}
    for pointer, value in fields.items():
        result = placed(result, f"/{pointer}", value)
    return result
