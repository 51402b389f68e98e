"""Findings: the failures of a run, grouped by rule and cause.

Findings without a known deviation come before those with one. In both groups, the worst harm comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.rules.rule import HARMS
from llm_conformance.server.catalogue import catalogue, place

STATUSES = (Status.FAIL.value, Status.EXPECTED.value)
"""The statuses of failures, in the order in which findings are listed."""


@dataclass(frozen=True)
class Finding:
    """The failures of one rule with one cause.

    Attributes:
        status: `fail`, or `expected` if known deviations name the failures.
        failures: The failing verdicts; the first has the shortest message.
    """

    rule: str
    status: str
    harm: str
    failures: tuple[Verdict, ...]

    @property
    def example(self) -> Verdict:
        """The failure that is shown."""
        return self.failures[0]


def findings(verdicts: Iterable[Verdict]) -> list[Finding]:
    """Return the findings in the verdicts, sorted."""
    alike: dict[tuple[str, str, str], list[Verdict]] = {}
    for each in verdicts:
        if each.status in STATUSES:
            alike.setdefault((each.status, each.rule, each.cause or ""), []).append(each)
    found = [
        Finding(rule, status, catalogue()[rule].harm, tuple(sorted(failures, key=lambda each: len(each.message or ""))))
        for (status, rule, _), failures in alike.items()
    ]
    return sorted(
        found,
        key=lambda each: (
            STATUSES.index(each.status),
            HARMS.index(catalogue()[each.rule].harm),
            -len(each.failures),
            place(each.rule),
        ),
    )


def not_judged(verdicts: Iterable[Verdict]) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Yield (rule, the number of its verdicts by reason) for each rule that has judged nothing."""
    reasons: dict[str, dict[str, int]] = {}
    decided: set[str] = set()
    for each in verdicts:
        own = reasons.setdefault(each.rule, {})
        if each.status in (Status.VACUOUS, Status.UNSUPPORTED, Status.BLOCKED):
            reason = f"{each.status}: {each.message}"
            own[reason] = own.get(reason, 0) + 1
        else:
            decided.add(each.rule)
    yield from ((rule, own) for rule, own in sorted(reasons.items()) if rule not in decided)
