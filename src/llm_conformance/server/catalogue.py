"""All rules about servers, by id."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from llm_conformance.server import rules
from llm_conformance.server.conversations import CAPABILITIES, conversations
from llm_conformance.server.rule import Rule, rule_of

FAMILIES: Mapping[str, str] = {
    "WIRE": "Is what the server sends what the format says?",
    "SRV": "Does the server do what the request asks?",
}
"""The question that each family of rules asks. A family is the part of a rule's id before the number."""


@functools.cache
def catalogue() -> Mapping[str, Rule]:
    """Return the rules by id, sorted by family and number."""
    found_in = pkgutil.walk_packages(rules.__path__, f"{rules.__name__}.")
    modules = (importlib.import_module(each.name) for each in found_in)
    found = {rule.id: rule for module in modules for rule in map(rule_of, vars(module).values()) if rule is not None}
    return {id: found[id] for id in sorted(found, key=place)}


def place(id: str) -> tuple[int, int]:
    """Return the sort key of a rule's id: (place of the family, number)."""
    family, _, number = id.partition("-")
    return list(FAMILIES).index(family), int(number)


def rules_of(api: str) -> list[Rule]:
    """Return the rules about a wire format."""
    return [each for each in catalogue().values() if not each.apis or api in each.apis]


def capabilities_of(api: str) -> list[str]:
    """Return the capabilities that any conversation or rule of a wire format needs."""
    needed = {name for each in conversations(api).values() for name in each.needs}
    needed |= {name for each in rules_of(api) for name in each.needs}
    return [name for name in CAPABILITIES if name in needed]
