"""Apply a rule to an exchange."""

from __future__ import annotations

from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict, verdict
from llm_conformance.replay.cell import PURE, Cell
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Vacuous, Violation
from llm_conformance.scenarios.expected import Expected

_SHOWN_BY = {
    "reasoning": "reasoning",
    "segments": "segments",
    "annotations": "annotations",
    "audio": "attachments",
    "tools": "tool_calls",
    "raw": "raw_events",
}


def known_without_running(cell: Cell, rule: Rule) -> Verdict | None:
    """Return the verdict that is known before anything is run, None if there is none."""
    if not rule.applies(cell.scenario.expected[cell.mode], cell.mode):
        return verdict(cell, rule, Status.VACUOUS, "the scenario has nothing for this rule")
    if rule.needs_request and cell.method in PURE:
        return verdict(cell, rule, Status.VACUOUS, "the method sends no request")
    if not cell.runnable:
        return verdict(cell, rule, Status.UNSUPPORTED, f"the adapter has no method for {cell.mode}")
    return None


def judge(rule: Rule, exchange: Exchange) -> tuple[Status, str | None, Violation | None]:
    """Return status, one-line message and the violation if there is one.

    Raises whatever a rule raises that is neither Violation nor Vacuous: that is the harness's own fault.
    """
    if exchange.outcome.unsupported is not None:
        return Status.UNSUPPORTED, exchange.outcome.unsupported, None
    declared = rule.capability is None or rule.capability in exchange.adapter.capabilities
    try:
        _check(rule, exchange)
    except Vacuous as nothing:
        if declared:
            return Status.VACUOUS, str(nothing), None
    except Violation as violation:
        if declared or _came_back_wrong(rule, exchange):
            return Status.FAIL, str(violation), violation
    if declared:
        return Status.PASS, None, None
    return Status.UNSUPPORTED, f"`{rule.capability}` is not declared", None


def _check(rule: Rule, exchange: Exchange) -> None:
    if exchange.outcome.fault is not None:
        raise Violation(_due(exchange.expected), exchange.outcome.fault)
    # Streams are judged as streams, whatever the adapter asked for behind its face.
    if not rule.applies(exchange.expected, "stream" if exchange.streamed else "json"):
        raise Vacuous("the recording that the adapter asked for has nothing for this rule")
    rule.check(exchange)


def _due(expected: Expected) -> str:
    if expected.error is None:
        return "an answer"
    return "an error of the contract" if expected.error == "LLMError" else f"{expected.error}, raised"


def _came_back_wrong(rule: Rule, exchange: Exchange) -> bool:
    """Whether an adapter that does not declare the capability gave something all the same, and gave it wrong."""
    outcome = exchange.outcome
    if outcome.fault is not None:
        return False  # the core rules report that
    if rule.capability == "round_trip":
        return False  # what it is about is sent, not shown
    if rule.capability == "streaming":
        return rule.id != "STR-7" and bool(outcome.events)  # late is not wrong
    if rule.capability == "errors":
        return outcome.raised is None
    shown = _SHOWN_BY[rule.capability or ""]
    return outcome.response is not None and bool(outcome.response.data.get(shown))
