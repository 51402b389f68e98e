"""What a report shows of an exchange beside its verdicts: the bytes that were sent, the truth, and what came back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from llm_conformance import secrets
from llm_conformance.contract.values import plain
from llm_conformance.exchange import Exchange
from llm_conformance.scenarios import Scenario
from llm_conformance.truths import Mode

USUAL_STATUS = 200


def key(adapter: str, scenario: str, face: str) -> str:
    """Return what an exchange is called in a report."""
    return f"{adapter} {scenario} {face}"


def of(exchange: Exchange, command: str) -> dict[str, Any]:
    """Return all that a report shows of an exchange, with the command that runs it again."""
    scenario, outcome = exchange.scenario, exchange.outcome
    return {
        "adapter": exchange.subject.label,
        "scenario": scenario.id,
        "face": exchange.face,
        "title": scenario.title,
        "command": command,
        **told(scenario, exchange.mode),
        "request": None if outcome.request is None else clean(outcome.request),
        "events": len(outcome.events),
        "returned": None if outcome.response is None else clean(outcome.response.data),
        "raised": None if outcome.raised is None else secrets.hide(str(outcome.raised)),
    }


def told(scenario: Scenario, mode: Mode) -> dict[str, Any]:
    """Return what an adapter was told in a mode, and the truth of it; what is usual is None."""
    sent, fault, truth = scenario.interactions[mode], scenario.fault, scenario.truths[mode]
    body = sent.body[: fault.after] if fault else sent.body
    said = {name: value for name, value in vars(truth).items() if name in truth.stated}
    if truth.error is None:
        said |= {"finish_reasons": truth.finish_reasons}
    unusual = sent.status != USUAL_STATUS
    return {
        "status": sent.status if unusual else None,
        "headers": dict(sent.headers) if unusual else None,
        "fault": fault and f"{fault.kind} after {fault.after} of {len(sent.body)} bytes",
        "body": secrets.hide(body.decode("utf-8", "backslashreplace")),
        "cuts": None if scenario.cuts is None else list(scenario.cuts),
        "truth": clean(said),
    }


def clean(data: Mapping[str, Any]) -> Any:
    """Return values as JSON, what looks like a secret hidden; in words if they contain themselves or lie too deep."""
    try:
        return json.loads(secrets.hide(json.dumps(plain(data), default=repr, ensure_ascii=False)))
    except (RecursionError, ValueError, TypeError) as error:
        return f"(cannot be written as JSON: {type(error).__name__})"
