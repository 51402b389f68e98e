"""The headline of a run: how many of the judged conversations are right.

A conversation is a scenario in one mode, judged by all rules through all methods of an adapter. It is right if nothing
in it fails. A failure that a known deviation names counts as a failure here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llm_conformance.judging.tally import Conversation, Tally
from llm_conformance.judging.verdict import Verdict
from llm_conformance.rules.catalogue import FAMILIES

Families = Mapping[str, bool]
"""Maps each family of rules that judged a conversation to True if nothing in it fails."""


def tally_of(results: Iterable[Mapping[str, Any]]) -> Tally:
    """Count the results of a report as a run does."""
    tally = Tally(keeps=False)
    tally.add(Verdict(**each) for each in results)
    return tally


def counts(conversations: Mapping[Conversation, Families]) -> list[dict[str, Any]]:
    """Return how many conversations were judged and how many are right, as JSON values.

    There is a row for each adapter, API, provenance and family of rules. A row with the family None is for all families
    together.
    """
    judged: dict[tuple[str, str, str, str | None], list[bool]] = {}
    for (adapter, api, provenance, _, _), families in conversations.items():
        judged.setdefault((adapter, api, provenance, None), []).append(all(families.values()))
        for name, is_right in families.items():
            judged.setdefault((adapter, api, provenance, name), []).append(is_right)
    rows = []
    for key in sorted(judged, key=lambda key: (*key[:3], key[3] is not None and FAMILIES.index(key[3]) + 1)):
        adapter, api, provenance, family = key
        provider, _, api_name = api.partition(":")
        rows.append(
            {
                "adapter": adapter,
                "provider": provider,
                "api": api_name,
                "provenance": provenance,
                "family": family,
                "judged": len(judged[key]),
                "right": sum(judged[key]),
            }
        )
    return rows
