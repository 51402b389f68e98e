"""Inputs that an adapter excludes. The adapter names ways in which answers can be unusual.

Each way belongs to a variation (`generate.variations`). An adapter cannot exclude the most common way of a variation,
so most of what a provider sends is always judged. Ways are excluded from generated inputs only. The one exception is
`THINK_TAGS`, which is no way of a variation, and is excluded from scenarios and recordings, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import did_you_mean

THINK_TAGS = "think tags"
"""An adapter excludes this if its library returns a text with reasoning between tags as the provider sent it."""


def problems(adapter: AdapterUnderTest) -> Iterator[str]:
    """Yield a message for each problem of an adapter's `excluded_inputs`."""
    excluded: Mapping[Any, Any] = adapter.excluded_inputs
    if not excluded:
        return
    known = {THINK_TAGS, *_ways(api for api in table().values() if adapter.covers(api))}
    for way, reason in excluded.items():
        if way not in known:
            hint = did_you_mean(str(way), known) or "; failures name the ways of their input under `Valid because`"
            yield f"`excluded_inputs` has {way!r}, which is no unusual way of an input of the adapter's APIs{hint}"
        if not isinstance(reason, str) or not reason.strip():
            yield f"`excluded_inputs` gives no reason for {way!r}; say why the adapter does not support it"


def excluded_way(excluded: Mapping[str, str], scenario: Scenario, mode: Mode) -> str | None:
    """Return the first excluded way of a generated scenario or of its earlier answers; None if there is none.

    If a fault breaks the answer, the ways of the unbroken answer count, because the request asks for the unbroken
    answer.
    """
    if not excluded:
        return None
    if excludes_tags_of(excluded, scenario):
        return THINK_TAGS
    from llm_conformance.formats.unusual import unusual  # imports Hypothesis, which is slow

    for each in (scenario, *scenario.earlier.values()):
        own = (scenario.unbroken or scenario.interactions[mode],)
        for interaction in each.interactions.values() if each is not scenario else own:
            found = next((str(way) for way in unusual(each.api, interaction) if str(way) in excluded), None)
            if found is not None:
                return found
    return None


def excludes_tags_of(excluded: Mapping[str, str], scenario: Scenario) -> bool:
    """Return True if the adapter excludes think tags, and the answer or an earlier answer has some in its text."""
    return THINK_TAGS in excluded and any(
        expected.reasoning_source == "tag"
        for each in (scenario, *scenario.earlier.values())
        for expected in each.expected.values()
    )


def _ways(apis: Iterable[Api]) -> Iterator[str]:
    """Yield the names of all ways but the most common way of each variation of an API."""
    from llm_conformance.formats.recognisers import BACKEND, variations_of
    from llm_conformance.generate.variations import ways_of

    for api in apis:
        for variation in variations_of(api):
            yield from (f"{variation.name}: {way}" for way in ways_of(api, variation)[1:])
        yield from (f"{BACKEND}: {name}" for name in list(api.backends)[1:])
