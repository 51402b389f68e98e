"""Providers that an adapter lists and the suite does not have."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import closest, did_you_mean, no_such

_ALMOST_EQUAL = 0.88
"""From this similarity of `difflib` on, a name counts as a slip of the finger."""


def names() -> frozenset[str]:
    """Return all names that an adapter may list: providers (`deepseek`) and APIs (`openai:chat`)."""
    return frozenset(name for api in table().values() for name in (api.provider, str(api)))


def hints(adapter: AdapterUnderTest) -> Mapping[str, str]:
    """Map each listed name that the suite does not have to a hint (`did_you_mean`), which may be ""."""
    known = names()
    return {name: did_you_mean(name, known) for name in sorted(adapter.providers - known)}


def misspelt(adapter: AdapterUnderTest) -> Mapping[str, str]:
    """Return the `hints` for the names that are so similar to a known name that they must be slips."""
    known = names()
    return {name: hint for name, hint in hints(adapter).items() if closest(name, known, cutoff=_ALMOST_EQUAL)}


def message(hint: str) -> str:
    """Return the message for an unknown provider; `hint` comes from `hints`."""
    return no_such("provider", hint, "llm-conformance list providers")
