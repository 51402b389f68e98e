"""What a report shows of an exchange beside its verdicts: the bytes that were sent, the truth, and what came back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from llm_conformance import secrets
from llm_conformance.compare import encodable, shown
from llm_conformance.rules.exchange import Exchange
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode

USUAL_STATUS = 200
_DEEPEST = 60


def key(adapter: str, scenario: str, method: str) -> str:
    """Return what an exchange is called in a report."""
    return f"{adapter} {scenario} {method}"


def of(exchange: Exchange, command: str) -> dict[str, Any]:
    """Return all that a report shows of an exchange, with the command that runs it again."""
    scenario, outcome = exchange.scenario, exchange.outcome
    return {
        "adapter": exchange.adapter.label,
        "scenario": scenario.id,
        "method": exchange.method,
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
    sent, fault, expected = scenario.interactions[mode], scenario.fault, scenario.expected[mode]
    body = sent.body[: fault.after] if fault else sent.body
    said = {name: value for name, value in vars(expected).items() if name in expected.stated}
    if expected.error is None:
        said |= {"finish_reasons": expected.finish_reasons}
    unusual = sent.status != USUAL_STATUS
    return {
        "status": sent.status if unusual else None,
        "headers": clean(secrets.without_credentials(sent.headers)) if unusual else None,
        "fault": fault and f"{fault.kind} after {fault.after} of {len(sent.body)} bytes",
        "body": secrets.hide(body.decode("utf-8", "backslashreplace")),
        "cuts": None if scenario.cuts is None else list(scenario.cuts),
        "expected": clean(said),
    }


def clean(value: Any, depth: int = 0) -> Any:
    """Return anything as JSON values that every reader takes, and with what looks like a secret hidden.

    What is no JSON is told in words: other objects, numbers that are not finite, and what lies too deep, as in a value
    that contains itself. Half a surrogate pair is escaped.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return secrets.hide(encodable(value))
    if depth > _DEEPEST:
        return "(nested too deep to be shown)"
    value = _fields_of(value)
    if isinstance(value, Mapping):
        return {str(clean(str(key))): clean(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean(each, depth + 1) for each in value]
    return clean(shown(value))


def _fields_of(value: Any) -> Any:
    """Return a dataclass as a mapping of its fields; anything else as it is."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value
