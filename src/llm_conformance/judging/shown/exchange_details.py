"""The details of an exchange in a report: the recorded answer, the expected values, and what came back."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from llm_conformance import secrets
from llm_conformance.compare import encodable, shown
from llm_conformance.rules.exchange import Exchange
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction, Mode

_USUAL_STATUS = 200
_DEEPEST = 60


def key(adapter: str, scenario: str, method: str) -> str:
    """Return the key of an exchange in a report."""
    return f"{adapter} {scenario} {method}"


def details(exchange: Exchange, command: str) -> dict[str, Any]:
    """Return the details of an exchange as JSON values, with the command that runs it again."""
    scenario, outcome = exchange.scenario, exchange.outcome
    return {
        "adapter": exchange.adapter.label,
        "scenario": scenario.id,
        "method": exchange.method,
        "title": scenario.title,
        "model": scenario.model,
        "think_profile": scenario.think_profile,
        "command": command,
        **recorded_and_expected(scenario, exchange.mode),
        "request": None if outcome.request is None else as_json(outcome.request),
        "events": len(outcome.events),
        "returned": None if outcome.response is None else as_json(outcome.response.data),
        "raised": None if outcome.raised is None else secrets.hide(str(outcome.raised)),
    }


def recorded_and_expected(scenario: Scenario, mode: Mode) -> dict[str, Any]:
    """Return the answer that is replayed in a mode, and the expected values."""
    expected = scenario.expected[mode]
    values = {name: value for name, value in vars(expected).items() if name in expected.stated}
    if expected.error is None:
        values |= {"finish_reasons": expected.finish_reasons}
    return {**recorded(scenario, mode), "expected": as_json(values)}


def recorded(scenario: Scenario, mode: Mode) -> dict[str, Any]:
    """Return the answer that is replayed in a mode.

    Status and headers are None for an answer with status 200. `outage` is the failure with which the server answers the
    first request, if the scenario has one.
    """
    answer, fault = scenario.interactions[mode], scenario.fault
    body = answer.body[: fault.after] if fault else answer.body
    unusual = answer.status != _USUAL_STATUS
    return {
        "status": answer.status if unusual else None,
        "headers": as_json(secrets.without_credentials(answer.headers)) if unusual else None,
        "fault": fault and f"{fault.kind} after {fault.after} of {len(answer.body)} bytes",
        **({} if scenario.outage is None else {"outage": _outage(scenario.outage)}),
        "body": secrets.hide(body.decode("utf-8", "backslashreplace")),
        "cuts": None if scenario.cuts is None else list(scenario.cuts),
    }


def _outage(answer: Interaction) -> str:
    body = secrets.hide(answer.body.decode("utf-8", "backslashreplace"))
    return f"the first request is answered with {answer.status} {json.dumps(body, ensure_ascii=False)}"


def as_json(value: Any) -> Any:
    """Return any value as JSON values that every parser accepts. What looks like a secret is hidden.

    Objects that JSON does not have, infinite numbers and values that are nested too deep become texts. Half a surrogate
    pair is escaped.
    """
    return _as_json(value, secrets.hider(), 0)


def _as_json(value: Any, hide: Callable[[str], str], depth: int) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return hide(encodable(value))
    if depth > _DEEPEST:
        return "(nested too deep to be shown)"
    value = _fields_of(value)
    if isinstance(value, Mapping):
        return {hide(encodable(str(key))): _as_json(each, hide, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(each, hide, depth + 1) for each in value]
    return hide(encodable(shown(value)))


def _fields_of(value: Any) -> Any:
    """Return a dataclass as a mapping of its fields; anything else unchanged."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value
