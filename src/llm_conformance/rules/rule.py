"""What a rule is, and the decorator that marks a function as one.

A rule is a function of one exchange. It returns if it finds nothing wrong. It raises `Violation` with what it expected
and what it found, `Vacuous` if the exchange gives it nothing to judge, or `Blocked` if it cannot judge because of a
failure that another rule reports.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from llm_conformance import editions
from llm_conformance.rules.exchange import Exchange
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

Applies = Callable[[Expected, Mode], bool]
Check = Callable[[Exchange], None]
Shown = Callable[[Exchange], bool]

Harm = Literal[
    "leak",
    "lost",
    "wrong",
    "false success",
    "wrong count",
    "refused next turn",
    "late",
    "untraceable",
    "unsafe",
]
"""What a user of the adapter suffers if it breaks a rule."""

HARMS: tuple[Harm, ...] = get_args(Harm)
"""All harms, the worst first."""

HARM_MEANINGS: Mapping[Harm, str] = {
    "leak": "Reasoning is shown as part of the answer",
    "lost": "Something of the answer is dropped",
    "wrong": "A text, a citation, an argument, an error or a request is altered or misplaced",
    "false success": "A failure looks like an answer",
    "wrong count": "Token counts are wrong",
    "refused next turn": "The provider refuses the next turn, or answers it worse",
    "late": "A stream does not arrive as it comes",
    "untraceable": "An id, a model, a time or the provider's own word is lost",
    "unsafe": (
        "A key is shown, somebody else is contacted, an answer is asked for twice, a connection is left open, or the "
        "caller's data is changed"
    ),
}
"""What each harm means, in the order of `HARMS`."""


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        id: Its family and number, such as `MSG-2`.
        requirement: The requirement, in one or two sentences.
        capability: The rule judges only adapters that declare this capability (but see `shown`). None: it judges all.
        applies: Returns True if the expected values give the rule something to judge.
        check: The rule itself.
        harm: What a user of the adapter suffers if it breaks the rule.
        since: The first edition that has the rule in this form (`llm_conformance.editions`).
        shown: Returns True if the adapter returned what the rule is about. If so, the rule judges the adapter even if
            it does not declare the capability. None: the rule judges only adapters that declare the capability.
        vary_cuts: Whether the rule also judges streams that are cut in many ways, not only as recorded.
        needs_request: Whether the rule judges the request. `parse` and `parse_stream` send no request.
        compares_request: Whether this rule reports requests that differ from the call. If a request differs, all other
            rules are blocked.
    """

    id: str
    requirement: str
    capability: str | None
    applies: Applies
    check: Check
    harm: Harm
    since: str = editions.FIRST
    shown: Shown | None = None
    vary_cuts: bool = False
    needs_request: bool = False
    compares_request: bool = False

    @property
    def family(self) -> str:
        """The part of the id before the number."""
        return self.id.partition("-")[0]


def answered(expected: Expected, _mode: Mode) -> bool:
    """Return True if an answer is expected and not an error."""
    return expected.error is None


def always(_expected: Expected, _mode: Mode) -> bool:
    """Return True."""
    return True


def in_response(field: str) -> Shown:
    """Return a function that tells whether a field of the response has a value."""

    def is_shown(exchange: Exchange) -> bool:
        response = exchange.outcome.response
        return response is not None and bool(response.data.get(field))

    return is_shown


def in_events(exchange: Exchange) -> bool:
    """Return True if the method has returned stream events."""
    return bool(exchange.events)


def in_error(field: str) -> Shown:
    """Return a function that tells whether an attribute of the raised error has a value."""
    return lambda exchange: bool(getattr(exchange.outcome.raised, field, None))


def no_error(exchange: Exchange) -> bool:
    """Return True if the method has raised no error."""
    return exchange.outcome.raised is None


def class_of_error(exchange: Exchange) -> bool:
    """Return True if the method has raised an error of a class that tells the caller what to do."""
    raised = exchange.outcome.raised
    return raised is not None and raised.contract_type not in (None, "LLMError")


def rule(
    id: str,
    *,
    harm: Harm,
    since: str = editions.FIRST,
    capability: str | None = None,
    shown: Shown | None = None,
    when: Applies = answered,
    vary_cuts: bool = False,
    needs_request: bool = False,
    compares_request: bool = False,
) -> Callable[[Check], Check]:
    """Mark a function as the rule `id`; its docstring's first paragraph is the requirement.

    `when` becomes `Rule.applies`; the other arguments become the attributes of the same name.
    """

    def mark(check: Check) -> Check:
        requirement = inspect.cleandoc(check.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        flags = (vary_cuts, needs_request, compares_request)
        marked = Rule(id, requirement, capability, when, check, harm, since, shown, *flags)
        setattr(check, _MARK, marked)
        return check

    return mark


_MARK = "conformance_rule"


def rule_of(function: Any) -> Rule | None:
    """Return the rule of a function that `rule` has marked; None for any other object."""
    return getattr(function, _MARK, None)
