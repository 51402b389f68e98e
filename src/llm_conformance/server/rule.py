"""What a rule about a server is, and the decorator that makes a function a rule.

A rule is a function of one exchange. It returns if it finds nothing wrong. It raises `Violation` with what it expected
and what it found, `Vacuous` if the answer gives it nothing to judge, or `Blocked` if it cannot judge because of a
failure that another rule reports.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

from llm_conformance import editions
from llm_conformance.rules.rule import Harm
from llm_conformance.server.exchange import Exchange
from llm_conformance.wire.interaction import MODES, Mode

Check = Callable[[Exchange], None]
Of = Literal["answers", "refusals", "all"]
"""Which exchanges a rule judges: those that a server has to answer, those that it has to refuse, or all."""

_SOURCE = re.compile(r"(?:^|\n)Source: (?P<source>(?s:.+)[.\"])$")


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        id: Its family and number, such as `WIRE-2`.
        requirement: The requirement, in one or two sentences.
        reason: What a user of the server suffers if it breaks the rule.
        source: Where the requirement is documented.
        harm: The kind of harm to a user of the server.
        of: Which exchanges the rule judges.
        modes: The modes that the rule judges.
        needs: The rule judges only servers that claim these capabilities.
        apis: The wire formats that the rule is about; () for all.
        since: The first edition that has the rule in this form (`llm_conformance.editions`).
    """

    id: str
    requirement: str
    reason: str
    source: str
    harm: Harm
    check: Check
    of: Of
    modes: tuple[Mode, ...]
    needs: frozenset[str]
    apis: tuple[str, ...]
    since: str

    @property
    def family(self) -> str:
        """The part of the id before the number."""
        return self.id.partition("-")[0]

    def judges(self, exchange: Exchange) -> bool:
        """Return True if the rule is about an exchange of this kind."""
        is_refusal = bool(exchange.conversation.refused)
        return exchange.mode in self.modes and self.of in ("all", "refusals" if is_refusal else "answers")


def rule(
    id: str,
    *,
    harm: Harm,
    of: Of = "answers",
    modes: tuple[Mode, ...] = MODES,
    needs: Collection[str] = (),
    apis: tuple[str, ...] = (),
    since: str = editions.FIRST,
) -> Callable[[Check], Check]:
    """Mark a function as the rule `id`. Its docstring has the requirement, the reason, and a line `Source: ...`."""

    def mark(check: Check) -> Check:
        requirement, _, rest = inspect.cleandoc(check.__doc__ or "").partition("\n\n")
        source = _SOURCE.search(rest)
        reason = rest[: source.start()] if source else rest
        made = Rule(
            id,
            _in_one_line(requirement),
            _in_one_line(reason),
            _in_one_line(source["source"]) if source else "",
            harm,
            check,
            of,
            modes,
            frozenset(needs),
            apis,
            since,
        )
        setattr(check, _MARK, made)
        return check

    return mark


_MARK = "server_rule"


def rule_of(function: Any) -> Rule | None:
    """Return the rule that a function is; None for any other object."""
    return getattr(function, _MARK, None)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
