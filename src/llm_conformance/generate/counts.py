"""Token counts as a provider reports them, and what they come to.

The algebra is a row of the provider table; here it is followed backwards: numbers are drawn for the fields, and what
the canonical counts are follows from how they were drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.contract import Usage
from llm_conformance.generate.chance import at_most, some
from llm_conformance.pointers import placed
from llm_conformance.wire.providers.api import PARTS, Api

_WHOLES = ("prompt_tokens", "completion_tokens")
_NUMBERS = st.integers(0, 4000)


@dataclass(frozen=True)
class Counts:
    """The provider's usage `fields` by pointer, and the canonical `usage` that they mean; None for no field at all.

    `optional` are the parts that might as well be missing, `growing` those that count what is said, `totals` the sums.
    """

    fields: Mapping[str, int]
    usage: Usage | None
    optional: frozenset[str] = frozenset()
    growing: frozenset[str] = frozenset()
    totals: frozenset[str] = frozenset()

    @property
    def raw(self) -> dict[str, Any]:
        """The provider's usage object."""
        return nested(self.fields)


@st.composite
def counts(draw: DrawFn, api: Api, always: bool = False) -> Counts:
    """Draw a usage object of a provider: any field may be 0, those that the algebra can do without may be missing.

    All of it may be missing, unless the format `always` has it.
    """
    fields: dict[str, int] = {}
    if not always and at_most(draw, 9) == 9:
        return Counts(fields, None)
    wholes: dict[str, Any] = {whole: _whole(draw, api.usage.get(whole, ()), fields) for whole in _WHOLES}
    prompt, completion = (wholes[whole] for whole in _WHOLES)
    known = None if prompt is None or completion is None else prompt + completion
    for pointer in api.usage.get("total_tokens", ()):
        if known is not None:
            fields[pointer] = known
    summed = {pointer.strip("-?") for whole in _WHOLES for pointer in api.usage.get(whole, ())}
    parts: dict[str, Any] = {}
    for part, whole in PARTS.items():
        for pointer in api.usage.get(part, ()):
            # A part that its whole is the sum of is there already, or missing.
            if pointer not in summed and wholes[whole] is not None and not some(draw):
                fields[pointer] = wholes[whole] * at_most(draw, 4) // 4
            parts[part] = fields.get(pointer)
    said = {pointer.strip("-?") for pointer in api.usage.get("completion_tokens", ())}
    said |= {each for part, whole in PARTS.items() if whole == "completion_tokens" for each in api.usage.get(part, ())}
    totals = frozenset(api.usage.get("total_tokens", ()))
    optional = frozenset(fields) - summed - totals
    return Counts(fields, Usage(**wholes, **parts, total_tokens=known), optional, frozenset(said) - totals, totals)


def _whole(draw: DrawFn, pointers: tuple[str, ...], fields: dict[str, int]) -> int | None:
    """Draw what a count is the sum of.

    What has a `?` may be missing and counts 0 then; what has a `-` is taken away from the first.
    """
    taken = [fields[pointer.strip("-")] for pointer in pointers if pointer.startswith("-")]
    if taken:
        rest: int = draw(_NUMBERS)
        fields[pointers[0]] = sum(taken) + rest
        return rest
    present = [pointer.rstrip("?") for pointer in pointers if not pointer.endswith("?") or not some(draw)]
    fields |= {pointer: draw(_NUMBERS) for pointer in present}
    return sum(fields[pointer] for pointer in present) if pointers else None


def growing(draw: DrawFn, counts: Counts, times: int) -> list[dict[str, Any]]:
    """Draw what a stream may have reported before its end: what is said grows, and the sum with it; parts may lack."""
    quarters = sorted(at_most(draw, 4) for _ in range(times))
    return [nested(dict(_so_far(draw, counts, quarter))) for quarter in quarters]


def _so_far(draw: DrawFn, counts: Counts, quarter: int) -> Iterator[tuple[str, int]]:
    unsaid = 0
    for key, value in counts.fields.items():
        so_far = value * quarter // 4 if key in counts.growing else value
        unsaid += value - so_far if key not in counts.optional else 0
        if key not in counts.totals and not (key in counts.optional and some(draw)):
            yield key, so_far
    for key in counts.totals & counts.fields.keys():
        yield key, counts.fields[key] - unsaid


def nested(fields: Mapping[str, int]) -> dict[str, Any]:
    """Turn values by pointer into an object."""
    result: dict[str, Any] = {}
    for pointer, value in fields.items():
        result = placed(result, f"/{pointer}", value)
    return result
