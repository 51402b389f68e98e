"""The rules as data: every rule of `conformance/` with the reason and the sources in its docstring."""

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

FAMILIES = ("SHP", "MSG", "RSN", "ANN", "USE", "STR", "ATT", "TOOL", "FIN", "RPL", "ERR", "PRV")
"""The part of a rule's id before the number, in the order in which reports show them."""

_SOURCE_LINE = re.compile(r"(?:^|\n)Source: (?P<ids>.+)\.$")


@dataclass(frozen=True)
class CatalogueEntry:
    """A rule, where it is defined, and why it exists.

    Attributes:
        path: The module that defines it.
        line: The line of the function in the module, from 1.
        reason: The docstring without the requirement and the `Source:` line; "" if that is all.
        sources: The ids of the `Source:` line, in order.
    """

    rule: Rule
    path: Path
    line: int
    reason: str
    sources: tuple[str, ...]

    @property
    def id(self) -> str:
        """The rule's id."""
        return self.rule.id


@functools.cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Return all rules by their ids, family by family."""
    entries = [_entry(path, rule) for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)]
    entries.sort(key=lambda entry: (FAMILIES.index(entry.rule.family), int(entry.id.partition("-")[2])))
    return {entry.id: entry for entry in entries}


def rules_in(path: Path) -> Iterator[tuple[str, Rule]]:
    """Yield (function name, rule) for each rule of a module of the suite, in the order of the file."""
    module = importlib.import_module(f"{RULES_PACKAGE}.{path.stem}")
    for name, function in vars(module).items():
        rule = rule_of(function)
        if rule is not None and name.startswith("test_"):
            yield name, rule


def _entry(path: Path, rule: Rule) -> CatalogueEntry:
    _, _, body = inspect.cleandoc(rule.check.__doc__ or "").partition("\n\n")
    source = _SOURCE_LINE.search(body)
    return CatalogueEntry(
        rule=rule,
        path=path,
        line=rule.check.__code__.co_firstlineno,
        reason=(body[: source.start()] if source else body).strip(),
        sources=tuple(source["ids"].split(", ")) if source else (),
    )
