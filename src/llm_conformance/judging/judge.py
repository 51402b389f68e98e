"""One rule applied to one cell or to its exchange."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llm_conformance.adapter.exclusions import THINK_TAGS, excludes_tags_of
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import PURE, Cell
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import Rule, always
from llm_conformance.rules.violation import Blocked, Vacuous, Violation


@dataclass(frozen=True)
class Judgement:
    """What a rule says of a cell.

    Attributes:
        message: One line; None for a pass.
        violation: The violation, if the rule fails.
        exchange: The exchange that was judged; None if the judgement was known without running it.
    """

    status: Status
    message: str | None = None
    violation: Violation | None = None
    exchange: Exchange | None = None


def judge(cell: Cell, rule: Rule, run: Callable[[], Exchange]) -> Judgement:
    """Judge a cell by a rule. `run` returns the cell's exchange; it is called only if the rule needs the exchange."""
    return known_without_running(cell, rule) or judge_exchange(rule, run())


def known_without_running(cell: Cell, rule: Rule) -> Judgement | None:
    """Return the judgement if it does not depend on what the adapter does, else None."""
    # Expected values are derived when they are first needed, which takes longer than all else here.
    if rule.applies is not always and not rule.applies(cell.scenario.expected[cell.mode], cell.mode):
        return Judgement(Status.VACUOUS, "the scenario has nothing for this rule")
    if rule.needs_request and cell.method in PURE:
        return Judgement(Status.VACUOUS, "the method sends no request")
    if cell.scenario.cannot_be_asked and cell.method not in PURE:
        return Judgement(Status.UNSUPPORTED, cell.scenario.cannot_be_asked)
    if not cell.runnable:
        return Judgement(Status.UNSUPPORTED, f"the adapter has no method for {cell.mode}")
    if excludes_tags_of(cell.adapter.excluded_inputs, cell.scenario):
        why = cell.adapter.excluded_inputs[THINK_TAGS]
        return Judgement(Status.UNSUPPORTED, f"the adapter excludes {THINK_TAGS}: {why}")
    return None


def judge_exchange(rule: Rule, exchange: Exchange) -> Judgement:
    """Judge an exchange by a rule.

    Violation, Vacuous and Blocked become statuses. Any other error is a fault of the suite, and is not caught.
    """
    if exchange.outcome.unsupported is not None:
        return Judgement(Status.UNSUPPORTED, exchange.outcome.unsupported, exchange=exchange)
    if exchange.outcome.blocked is not None:
        return Judgement(Status.BLOCKED, exchange.outcome.blocked, exchange=exchange)
    difference = exchange.outcome.difference
    if difference is not None and not rule.compares_request:
        return Judgement(
            Status.BLOCKED, f"the request asks something else; RPL-4 reports that: {difference}", exchange=exchange
        )
    declared = rule.capability is None or rule.capability in exchange.adapter.capabilities
    try:
        _check(rule, exchange)
    except Vacuous as nothing:
        if declared:
            return Judgement(Status.VACUOUS, str(nothing), exchange=exchange)
    except Blocked as blocked:
        if declared:
            return Judgement(Status.BLOCKED, str(blocked), exchange=exchange)
    except Violation as violation:
        if declared or _returned_it_anyway(rule, exchange):
            return Judgement(Status.FAIL, str(violation), violation, exchange)
    if declared:
        return Judgement(Status.PASS, exchange=exchange)
    return Judgement(Status.UNSUPPORTED, f"`{rule.capability}` is not declared", exchange=exchange)


def _check(rule: Rule, exchange: Exchange) -> None:
    # A method that returns events is judged as a stream, even if the adapter requested a plain answer.
    if not rule.applies(exchange.expected, "stream" if exchange.streamed else "json"):
        raise Vacuous("the recording that the adapter asked for has nothing for this rule")
    rule.check(exchange)


def _returned_it_anyway(rule: Rule, exchange: Exchange) -> bool:
    """Return True if an adapter returned what a rule is about, but does not declare the rule's capability."""
    if exchange.outcome.fault is not None:
        # Whatever is declared, a call has to come back with a response, or to raise an exception.
        return exchange.outcome.raised is None
    return rule.shown is not None and rule.shown(exchange)
