"""The rules as data: every rule of `conformance/` with the reason and the sources in its docstring."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.locations import RULES, RULES_PACKAGE
from llm_conformance.rules.rule import Rule, rule_of

FAMILY_QUESTIONS: Mapping[str, str] = {
    "SHP": "Does the answer have the canonical shape?",
    "MSG": "Is the message the whole visible answer, and only that?",
    "RSN": "Is reasoning whole, unaltered, in order, with its signatures?",
    "ANN": "Are all citations there, on the right characters?",
    "USE": "Do token counts add up and match the provider's?",
    "STR": "Do streams match plain answers, and arrive as they come?",
    "ATT": "Is audio kept whole?",
    "TOOL": "Do tool calls come back as made?",
    "FIN": "Is the finish reason mapped and kept?",
    "RPL": "Does the request ask for all of the call, with earlier answers as they came?",
    "ERR": "Does a failure become an error of the right class?",
    "PRV": "Are id and model right, and side effects absent?",
}
"""What each family asks. A family is the part of a rule's id before the number."""

FAMILIES = tuple(FAMILY_QUESTIONS)
"""The families in the order in which reports show them."""

_SENTENCE = re.compile(r"^.*?[.](?=\s|$)")
_SOURCE_LINE = re.compile(r"(?:^|\n)Source: (?P<ids>.+)\.$")


@dataclass(frozen=True)
class CatalogueEntry:
    """A rule, where it is defined, and why it exists.

    Attributes:
        path: The module that defines it.
        line: The line of the function in the module, from 1.
        reason: The docstring without the requirement and the `Source:` line; "" if nothing else is there.
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

    @property
    def noticed(self) -> str:
        """What a user of the adapter notices: the first sentence of the reason, or the requirement if there is none."""
        reason = " ".join((self.reason or self.rule.requirement).split())
        found = _SENTENCE.match(reason)
        return found[0] if found else reason


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
