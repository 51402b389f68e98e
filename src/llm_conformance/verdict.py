"""One verdict a cell and invariant: running the rule, and turning how it ends into a status."""

from __future__ import annotations

import glob
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract.values import plain
from llm_conformance.exchange import Exchange
from llm_conformance.judgement import Invariant, Status, Vacuous, Violation, shown
from llm_conformance.locations import CASSETTES, COMMAND
from llm_conformance.plan import PURE, Cell
from llm_conformance.scenarios import Scenario
from llm_conformance.truths import Truth

_SHOWN_BY = {
    "reasoning": "reasoning",
    "segments": "segments",
    "annotations": "annotations",
    "audio": "attachments",
    "tools": "tool_calls",
    "raw": "raw_events",
}


_SHOWN = 3000


@dataclass(frozen=True)
class Verdict:
    """A result as the report lists it; `message` is None for a pass.

    `example` is what a search found: the body, where it was cut, the truth, and what came back. `deviation` is the
    position of the known deviation that names the cell.
    """

    adapter: str
    invariant: str
    scenario: str
    provider: str
    api: str
    mode: str
    face: str
    status: str
    message: str | None
    evidence: str
    example: Mapping[str, Any] | None = None
    deviation: int | None = None

    @property
    def headline(self) -> str:
        """What is said of it, in one line."""
        return f"{self.invariant}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as a result of the JSON report."""
        absent = {key for key in ("example", "deviation") if getattr(self, key) is None}
        return {key: plain(value) for key, value in vars(self).items() if key not in absent}


def verdict(
    cell: Cell,
    invariant: Invariant,
    status: Status,
    message: str | None = None,
    example: Mapping[str, Any] | None = None,
) -> Verdict:
    """Return the verdict on a cell."""
    scenario = cell.scenario
    return Verdict(
        adapter=cell.subject.label,
        invariant=invariant.id,
        scenario=scenario.id,
        provider=scenario.provider.id,
        api=scenario.provider.api,
        mode=cell.mode,
        face=cell.face,
        status=status.value,
        message=message,
        evidence=scenario.evidence,
        example=example,
    )


def settled(cell: Cell, invariant: Invariant) -> Verdict | None:
    """Return the verdict that is known before anything is run, None if there is none."""
    if not invariant.applies(cell.scenario.truths[cell.mode], cell.mode):
        return verdict(cell, invariant, Status.VACUOUS, "the scenario has nothing for this rule")
    if invariant.sends and cell.face in PURE:
        return verdict(cell, invariant, Status.VACUOUS, "the method sends no request")
    if not cell.runnable:
        return verdict(cell, invariant, Status.UNSUPPORTED, f"the adapter has no method for {cell.mode}")
    return None


def judge(invariant: Invariant, exchange: Exchange) -> tuple[Status, str | None, Violation | None]:
    """Return status, one-line message and the violation if there is one.

    Raises whatever a rule raises that is neither Violation nor Vacuous: that is the harness's own fault.
    """
    if exchange.outcome.unsupported is not None:
        return Status.UNSUPPORTED, exchange.outcome.unsupported, None
    declared = invariant.capability is None or invariant.capability in exchange.subject.capabilities
    try:
        _check(invariant, exchange)
    except Vacuous as nothing:
        if declared:
            return Status.VACUOUS, str(nothing), None
    except Violation as violation:
        if declared or _came_back_wrong(invariant, exchange):
            return Status.FAIL, str(violation), violation
    if declared:
        return Status.PASS, None, None
    return Status.UNSUPPORTED, f"`{invariant.capability}` is not declared", None


def _check(invariant: Invariant, exchange: Exchange) -> None:
    if exchange.outcome.fault is not None:
        raise Violation(_due(exchange.truth), exchange.outcome.fault)
    # Streams are judged as streams, whatever the adapter asked for behind its face.
    if not invariant.applies(exchange.truth, "stream" if exchange.streamed else "json"):
        raise Vacuous("the recording that the adapter asked for has nothing for this rule")
    invariant.check(exchange)


def _due(truth: Truth) -> str:
    if truth.error is None:
        return "an answer"
    return "an error of the contract" if truth.error == "LLMError" else f"{truth.error}, raised"


def _came_back_wrong(invariant: Invariant, exchange: Exchange) -> bool:
    """Whether an adapter that does not declare the capability gave something all the same, and gave it wrong."""
    outcome = exchange.outcome
    if outcome.fault is not None:
        return False  # the core rules report that
    if invariant.capability == "replay":
        return False  # what it is about is sent, not shown
    if invariant.capability == "streaming":
        return invariant.id != "STR-7" and bool(outcome.events)  # late is not wrong
    if invariant.capability == "errors":
        return outcome.raised is None
    shown = _SHOWN_BY[invariant.capability or ""]
    return outcome.response is not None and bool(outcome.response.data.get(shown))


def narrative(
    cell: Cell,
    invariant: Invariant,
    violation: Violation,
    options: Iterable[str] = (),
    example: Mapping[str, Any] | None = None,
    alike: Iterable[Invariant] = (),
) -> str:
    """Return a failure as an adapter author reads it, without a traceback; an `example` that was found is shown.

    `options` are those of the run that the command to repeat it needs, `alike` the rules that fail with the same words.
    """
    lines = [
        ("Requirement", f"{invariant.id}: {invariant.requirement}"),
        ("Expected", violation.expected),
        ("Actual", violation.actual),
        ("Hint", violation.hint),
        ("Same for", ", ".join(each.id for each in alike)),
        ("Where", ", ".join(filter(None, (cell.scenario.id, cell.mode, cell.face, violation.where)))),
        ("Scenario", f"{cell.scenario.title} ({'; '.join(_origin(cell.scenario))})"),
        *((name.capitalize(), _shown(value)) for name, value in (example or {}).items() if value is not None),
        ("Not kept", _NOT_KEPT if _is_lost(cell.scenario) else ""),
        ("Reproduce", command(cell, invariant, options)),
    ]
    return "\n".join(f"{label:<12} {text}" for label, text in lines if text)


_NOT_KEPT = "there is no directory for it (pytest's cache); the search may find another example the next time"


def _is_lost(scenario: Scenario) -> bool:
    return scenario.evidence == "generated" and not scenario.path.is_file()


def _origin(scenario: Scenario) -> Iterator[str]:
    yield scenario.evidence
    if scenario.path.is_file():  # what is generated need not be kept
        yield str(scenario.path)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False, default=shown)
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ... ({len(text)} characters; a report has them all)"
    return short.replace("\n", f"\n{'':<13}").rstrip()


def command(cell: Cell, invariant: Invariant | None = None, more: Iterable[str] = ()) -> str:
    """Return the command line that runs this one cell alone, or all rules of its exchange, with `more` options."""
    own = cell.scenario.home != CASSETTES
    options = (
        *([f"--conformance-cassettes={cell.scenario.home}"] if own else ()),
        f"--conformance-adapter={cell.subject.spec}",
        f"--conformance-scenario={glob.escape(cell.scenario.id)}",
        f"--conformance-face={cell.face}",
        *([f"--conformance-invariant={invariant.id}"] if invariant else ()),
        *more,
    )
    return f"{COMMAND} {' '.join(map(shlex.quote, options))}"
