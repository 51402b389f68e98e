"""The rules as data: every invariant of `conformance/`, with what its docstring says."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.locations import RULES, RULES_PACKAGE
from llm_conformance.rules.rule import Rule, rule_of


def rules_in(path: Path) -> Iterator[tuple[str, Rule]]:
    """Yield the rules of a module of the suite as (function name, invariant), in the order they are written."""
    module = importlib.import_module(f"{RULES_PACKAGE}.{path.stem}")
    for name, function in vars(module).items():
        found = rule_of(function)
        if found is not None and name.startswith("test_"):
            yield name, found


FAMILIES = ("SHP", "MSG", "RSN", "ANN", "USE", "STR", "ATT", "TOOL", "FIN", "RPL", "ERR", "PRV")

_REQUIREMENT_ID = re.compile(r"\b(?:S[0-4]-\d+|C-\d+|U-\d+)\b")


@dataclass(frozen=True)
class CatalogueEntry:
    """An invariant, where it stands, and why it is one.

    Attributes:
        reason: What its docstring says behind the requirement; "" if nothing.
        sources: Ids of requirements that the docstring names, in order.
        line: Of the function, from 1.
    """

    rule: Rule
    path: Path
    line: int
    reason: str
    sources: tuple[str, ...]

    @property
    def id(self) -> str:
        """The invariant's id."""
        return self.rule.id


@functools.cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Return all rules by their ids, family by family."""
    found = [_rule(path, rule) for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)]
    found.sort(key=lambda rule: (FAMILIES.index(rule.rule.family), int(rule.id.partition("-")[2])))
    return {rule.id: rule for rule in found}


def _rule(path: Path, rule: Rule) -> CatalogueEntry:
    said = inspect.cleandoc(rule.check.__doc__ or "")
    return CatalogueEntry(
        rule=rule,
        path=path,
        line=rule.check.__code__.co_firstlineno,
        reason=said.partition("\n\n")[2].strip(),
        sources=tuple(dict.fromkeys(_REQUIREMENT_ID.findall(said))),
    )
