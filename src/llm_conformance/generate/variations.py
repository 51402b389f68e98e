"""What providers may vary in their answers. A row of the provider table says which ways its provider has.

    [api.chat.varies."counts of a stream"]
    apart = "measured: 80 of 90 recordings"
    never = "https://example.org/streams"

If a format leaves a choice to its providers, generators call `choose`. So they draw only what the provider sends.
Recognisers (`formats/*/recogniser.py`) say which ways a document has.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import pick
from llm_conformance.wire.providers.api import Api


@dataclass(frozen=True)
class Variation:
    """Something that providers of a wire format do in different ways.

    Attributes:
        name: Its name in the provider table.
        about: A phrase that says what it is.
        usual: The way of providers whose row does not state the variation.
        ways: All ways; () if the ways are names that differ by provider, such as names of fields.
    """

    name: str
    about: str
    usual: str
    ways: tuple[str, ...] = ()


EMPTY = ("absent", "null", "empty")
"""The ways to send a field without content. `empty` is `""`, or `[]` for a list."""


def emptiness(name: str, about: str, usual: str = "absent") -> Variation:
    """Return a variation for the way in which a field without content is sent."""
    return Variation(name, about, usual, EMPTY)


WITHOUT_COUNTS = frozenset(("absent", "null", "never"))
"""Ways of the variations in `Generator.counted` that mean answers without token counts."""

MISSING_COUNTS = Variation("missing counts", "a field of the usage object that is not always there", "none")
"""Its ways are fields of the usage object (`generate.count_ways`), or `none`."""


ZERO_COUNTS = Variation("counts of 0", "whether a count that is 0 is sent", "sent", ("sent", "left out"))

ARGUMENTS = Variation(
    "text of arguments",
    "how the JSON text of a tool call's arguments is written",
    "compact",
    ("compact", "spaced", "indented", "other"),
)
"""`compact` is `{"a":1,"b":2}`, `spaced` is `{"a": 1, "b": 2}`. Other texts are recognised but never drawn."""

FINISH_WORDS = Variation(
    "finish words",
    "the finish words that the provider is known to send; `new` are words that the row does not list, where the "
    "provider says that it adds some",
    "stop",
)
"""The column `finish` may have more words, which an adapter should know although no source shows them."""


def ways_of(api: Api, variation: Variation) -> tuple[str, ...]:
    """Return the ways of an API for a variation, the most common first."""
    return tuple(api.varies.get(variation.name, ())) or (variation.usual,)


def choose(draw: DrawFn, api: Api, variation: Variation) -> str:
    """Draw one of the ways of an API for a variation. The first way is the simplest."""
    ways = ways_of(api, variation)
    return pick(draw, *ways) if len(ways) > 1 else ways[0]


@functools.cache
def with_one_way(api: Api, variation: Variation, way: str) -> Api:
    """Return the API with only this way of a variation. All draws for one answer then agree."""
    source = api.varies.get(variation.name, {}).get(way, "")
    return replace(api, varies={**api.varies, variation.name: {way: source}})


def empty(draw: DrawFn, api: Api, variation: Variation, name: str, value: str | Sequence[Any] = "") -> dict[str, Any]:
    """Draw a field without content: absent, null, or `value`, which has to be empty."""
    return as_empty(choose(draw, api, variation), name, value)


def as_empty(way: str, name: str, value: str | Sequence[Any] = "") -> dict[str, Any]:
    """Return a field without content in the given way: `absent`, `null` or `empty`."""
    return {} if way == "absent" else {name: None if way == "null" else value}


def emptiness_of(fields: Mapping[str, Any], name: str) -> str | None:
    """Return the way in which a field has no content: `absent`, `null` or `empty`; None if it has content."""
    if name not in fields:
        return "absent"
    return "null" if fields[name] is None else "empty" if fields[name] in ("", []) else None
