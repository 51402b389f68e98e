"""What a run says: the JSON report and the text for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from llm_conformance import __version__, secrets
from llm_conformance.judging.status import Status, exit_code
from llm_conformance.judging.verdict import Verdict
from llm_conformance.server.catalogue import catalogue
from llm_conformance.server.findings import Finding, findings, not_judged
from llm_conformance.server.judge import Judgement
from llm_conformance.server.plan import Target
from llm_conformance.wording import command_line, counted, printable, shortened

_REASONS = 3
_MESSAGE = 500


@dataclass(frozen=True)
class Result:
    """A run.

    Attributes:
        command: The words of a command that judges the same again; a finding adds its rule and conversation.
        calls: How many requests were judged.
        complete: Whether every rule was applied to every conversation that the claims allow.
    """

    target: Target
    judgement: Judgement
    command: tuple[str, ...]
    calls: int
    complete: bool

    @property
    def summary(self) -> Counter[str]:
        """The number of verdicts by status."""
        counts = Counter(each.status for each in self.judgement.verdicts)
        return counts + Counter({Status.STALE.value: len(self.judgement.stale)})

    @property
    def exit_code(self) -> int:
        """The exit code, as that of `llm-conformance run`."""
        return exit_code(self.summary)


def document(result: Result) -> dict[str, Any]:
    """Return the JSON report; `schemas/server-report.schema.json` describes it."""
    target, judgement = result.target, result.judgement
    return {
        "suite": {"name": "llm-conformance", "version": __version__},
        "server": {
            "url": target.url,
            "api": target.api,
            "model": target.model,
            "capabilities": sorted(target.claims),
        },
        "calls": result.calls,
        "findings": [_finding(each, result) for each in findings(judgement.verdicts)],
        "not_judged": {rule: dict(reasons) for rule, reasons in not_judged(judgement.verdicts)},
        "results": [_result(each) for each in judgement.verdicts],
        "deviations": [
            {**each, "status": "stale" if at in judgement.stale else "used or undecided"}
            for at, each in enumerate(judgement.deviations.to_dicts())
        ],
        "summary": dict(sorted(result.summary.items())),
        "complete": result.complete,
        "finished": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }


def _result(verdict: Verdict) -> dict[str, Any]:
    message = {} if verdict.message is None else {"message": secrets.hide(verdict.message)}
    known = {} if verdict.deviation is None else {"deviation": verdict.deviation}
    return {
        "rule": verdict.rule,
        "conversation": verdict.scenario,
        "mode": verdict.mode,
        "status": verdict.status,
        **message,
        **known,
    }


def _finding(finding: Finding, result: Result) -> dict[str, Any]:
    rule = catalogue()[finding.rule]
    return {
        "rule": finding.rule,
        "status": finding.status,
        "harm": finding.harm,
        "requirement": rule.requirement,
        "reason": rule.reason,
        "source": rule.source,
        "message": secrets.hide(finding.example.message or ""),
        "failures": [[each.scenario, each.mode] for each in finding.failures],
        "command": _command(finding, result),
    }


def _command(finding: Finding, result: Result) -> str:
    """Return the command that shows a finding again, with the bytes."""
    example = finding.example
    conversation = example.scenario.partition("/")[2].partition("#")[0]
    rule = f"--rule={finding.rule}"
    if any(word.startswith("--replay") for word in result.command):  # nothing is sent, so the others may be judged, too
        return command_line([*result.command, rule, f"--conversation={conversation}", f"--mode={example.mode}", "-v"])
    return command_line([*result.command, rule, f"--conversation={conversation}", "-v"])


def text(result: Result) -> Iterator[str]:
    """Yield the lines for the terminal."""
    found = findings(result.judgement.verdicts)
    for finding in found:
        yield from _lines(finding, result)
    silent = list(not_judged(result.judgement.verdicts))
    if silent:
        yield "not judged:"
    for id, reasons in silent:
        listed = "; ".join(f"{reason} ({count})" for reason, count in list(reasons.items())[:_REASONS])
        yield f"  {id}: {printable(listed)}"
    for line in result.judgement.deviations.stale_entries(result.judgement.stale):
        yield f"stale: {line}"
    new = [each for each in found if each.status == Status.FAIL]
    known = len(found) - len(new)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(result.summary.items()))
    yield f"{counted(len(new), 'finding')}" + (f", {known} known" if known else "") + f": {counts}"
    if not result.complete:
        yield "PARTIAL: not every rule was applied to every conversation"


def _lines(finding: Finding, result: Result) -> Iterator[str]:
    rule = catalogue()[finding.rule]
    where = ", ".join(dict.fromkeys(f"{each.scenario} ({each.mode})" for each in finding.failures[:4]))
    more = f" and {len(finding.failures) - 4} more" if len(finding.failures) > 4 else ""
    known = " (known)" if finding.status == Status.EXPECTED else ""
    yield f"{finding.harm}: {finding.rule}{known}: {rule.requirement}"
    yield f"  Found      {printable(shortened(secrets.hide(finding.example.message or ''), _MESSAGE))}"
    yield f"  In         {printable(where)}{more}"
    yield f"  Because    {rule.reason}"
    yield f"  Source     {rule.source}"
    yield f"  Reproduce  {_command(finding, result)}"
    yield ""
