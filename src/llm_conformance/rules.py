"""The rules as data: every invariant of `conformance/`, with what its docstring says."""

from __future__ import annotations

import functools
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.items import invariants_in
from llm_conformance.judgement import Invariant
from llm_conformance.locations import RULES
from llm_conformance.reports.matrix import FAMILIES

_REQUIREMENT_ID = re.compile(r"\b(?:S[0-4]-\d+|C-\d+|U-\d+)\b")


@dataclass(frozen=True)
class Rule:
    """An invariant, where it stands, and why it is one.

    Attributes:
        reason: What its docstring says behind the requirement; "" if nothing.
        sources: Ids of requirements that the docstring names, in order.
        line: Of the function, from 1.
    """

    invariant: Invariant
    path: Path
    line: int
    reason: str
    sources: tuple[str, ...]

    @property
    def id(self) -> str:
        """The invariant's id."""
        return self.invariant.id


@functools.cache
def catalogue() -> dict[str, Rule]:
    """Return all rules by their ids, family by family."""
    found = [_rule(path, invariant) for path in sorted(RULES.glob("test_*.py")) for _, invariant in invariants_in(path)]
    found.sort(key=lambda rule: (FAMILIES.index(rule.invariant.family), int(rule.id.partition("-")[2])))
    return {rule.id: rule for rule in found}


def _rule(path: Path, invariant: Invariant) -> Rule:
    said = inspect.cleandoc(invariant.check.__doc__ or "")
    return Rule(
        invariant=invariant,
        path=path,
        line=invariant.check.__code__.co_firstlineno,
        reason=said.partition("\n\n")[2].strip(),
        sources=tuple(dict.fromkeys(_REQUIREMENT_ID.findall(said))),
    )
