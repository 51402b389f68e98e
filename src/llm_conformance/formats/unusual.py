"""The unusual ways of an answer, each with its source. Most answers of the provider do not have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llm_conformance.formats.recognisers import BACKEND, ERRORS, Way, recognise
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.narrowing import backends

_SHOWN = 3


def unusual(api: Api, interaction: Interaction, fails: bool = False) -> tuple[Way, ...]:
    """Return the ways of an answer that are not the most common one of their variation, the rarest first.

    An answer that `fails` is not whole, so only its error is read. If the API has several backends, the first way names
    the backend that answers.

    The provider table lists the ways of a variation from the most to the least common. A way that the row does not have
    ranks as the rarest, because the suite should not have sent it.
    """
    ways = (way for way in recognise(api, interaction) if not fails or way.variation == ERRORS)
    ranked = [(_rank(api, way), way) for way in ways]
    return tuple(way for rank, way in sorted(ranked, key=lambda each: -each[0]) if rank)


def valid_because(api: Api, interaction: Interaction, fails: bool = False) -> str | None:
    """Return the rarest ways of an answer with their sources, in one line; None if nothing in the answer is unusual.

    If the API has several backends, the text names the backend that answers, and the ways that are unusual for it.
    """
    ways = unusual(api, interaction, fails)
    backend = backends(api).get(next((way.way for way in ways if way.variation == BACKEND), ""), api)
    return "; ".join(_texts([way for way in ways if _rank(backend, way)])) or None


def _texts(ways: Sequence[Way]) -> Iterator[str]:
    for way in ways[:_SHOWN]:
        yield f"{way} ({way.source or 'the provider table does not have this: a fault of llm-conformance'})"
    if len(ways) > _SHOWN:
        yield f"and {len(ways) - _SHOWN} more unusual ways"


def _rank(api: Api, way: Way) -> int:
    """Return how unusual a way is; 0 for the most common one."""
    stated = list(api.varies.get(way.variation, ()))
    if way.source is None:
        return len(stated) + 200
    if way.variation == BACKEND:
        return 100
    return stated.index(way.way) if way.way in stated else 0
