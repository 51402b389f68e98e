"""How a rule speaks: an invariant, what it looks at, and the ways in which its judgement can end.

A rule is a function of one exchange. It returns when it has found nothing wrong, raises `Violation` with what was
expected and what was there, or `Vacuous` when the exchange gave it nothing to look at.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from llm_conformance.rules.exchange import Exchange
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

Applies = Callable[[Expected, Mode], bool]
Check = Callable[[Exchange], None]


@dataclass(frozen=True)
class Rule:
    """One rule: its id, its requirement in one sentence, and whether it looks at anything in a given truth.

    One that holds `over` cuts judges a stream that is cut in many ways, instead of once as it was recorded. One that
    looks at what an adapter `sends` has nothing to see in methods that are given the answer.
    """

    id: str
    requirement: str
    capability: str | None
    applies: Applies
    check: Check
    over: Literal["", "cuts"] = ""
    sends: bool = False

    @property
    def family(self) -> str:
        """The part of the id before the number."""
        return self.id.partition("-")[0]


def answered(expected: Expected, _mode: Mode) -> bool:
    """There is an answer, not an error."""
    return expected.error is None


def always(_expected: Expected, _mode: Mode) -> bool:
    """Whatever the truth is."""
    return True


def rule(
    id: str,
    *,
    capability: str | None = None,
    when: Applies = answered,
    over: Literal["", "cuts"] = "",
    sends: bool = False,
) -> Callable[[Check], Check]:
    """Mark a function as the rule `id`; its docstring's first paragraph is the requirement.

    `capability` is what an adapter has to declare to be held to it; `when` says which truths give it something to see,
    `over` whether each recording is to be varied for it, `sends` whether it is about the request.
    """

    def mark(check: Check) -> Check:
        requirement = inspect.cleandoc(check.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        setattr(check, _MARK, Rule(id, requirement, capability, when, check, over, sends))
        return check

    return mark


_MARK = "conformance_rule"


def rule_of(function: Any) -> Rule | None:
    """Return the invariant that a function was marked as, None for any other object."""
    return getattr(function, _MARK, None)
