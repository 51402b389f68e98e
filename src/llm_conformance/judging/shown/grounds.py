"""Why a generated input is valid: its fault and what is unusual in it, with sources which show that this happens."""

from __future__ import annotations

from llm_conformance.formats.gateways import PAGE
from llm_conformance.formats.recognisers import ERRORS, recognise
from llm_conformance.formats.unusual import valid_because
from llm_conformance.scenarios.core_faults import CORE_FAULTS
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode

_EMPTY = "a proxy answers with an empty body and status 200 (https://github.com/NousResearch/hermes-agent/pull/80649)"


def grounds(scenario: Scenario, mode: Mode) -> str | None:
    """Return what is unusual in a generated input with the sources, in one line; None if nothing is.

    First comes the fault, then what is unusual in the earlier answers that go back in the request, then in the answer.
    """
    why = [fault_grounds(scenario, mode)]
    for number, earlier in scenario.earlier.items():
        found = valid_because(scenario.api, earlier.interactions[mode])
        why.append(found and f"in messages[{number}], {found}")
    fails = scenario.expected[mode].error is not None
    why.append(valid_because(scenario.api, scenario.interactions[mode], fails=fails))
    return "; ".join(filter(None, why)) or None


def fault_grounds(scenario: Scenario, mode: Mode) -> str | None:
    """Return the fault of a generated input with its source, in one line; None if there is none or no source is known.

    The faults are the core faults, empty bodies, and errors before the real answer. Other errors count as something
    unusual in an answer (`unusual`).
    """
    if scenario.expected[mode].fault in ("malformed", "incomplete") and not scenario.interactions[mode].body:
        return None if scenario.grounds == "probe" else _EMPTY
    name = _core_fault(scenario, mode)
    if name is not None:
        fault = CORE_FAULTS[name]
        return f"{fault.title[0].lower()}{fault.title[1:]} ({fault.source})"
    if scenario.outage is not None:
        found = [way for way in recognise(scenario.api, scenario.outage) if way.variation == ERRORS and way.source]
        return next((f"the first request fails: {way.way} ({way.source})" for way in found), None)
    return None


def _core_fault(scenario: Scenario, mode: Mode) -> str | None:
    """Return the name of the core fault that an input has; None if it has none of them."""
    if scenario.fault is not None:
        return next(name for name, each in CORE_FAULTS.items() if each.connection == scenario.fault.kind)
    body, whole = scenario.interactions[mode].body, scenario.unbroken
    if scenario.expected[mode].error is None or whole is None or scenario.grounds == "probe":
        return None
    if body == PAGE:
        return "html"
    return "truncated" if len(body) < len(whole.body) and whole.body.startswith(body) else None
