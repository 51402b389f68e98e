"""The text of a run for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from llm_conformance import secrets
from llm_conformance.judging.status import Status
from llm_conformance.server.catalogue import catalogue
from llm_conformance.server.findings import Finding, findings, not_judged
from llm_conformance.server.reports.result import Result
from llm_conformance.wording import counted, printable, shortened

_REASONS = 3
_MESSAGE = 500


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
    newer = [each for each in result.judgement.verdicts if each.status == Status.NEW]
    for each in newer:
        message = printable(shortened(secrets.hide(each.message or ""), _MESSAGE))
        yield f"new: {each.rule} in {each.scenario} ({each.mode}): {message}"
    if newer:
        pinned = f"the run is pinned to edition {result.judgement.edition}"
        yield f"{counted(len(newer), 'new failure')}, not counted: {pinned}"
    for line in result.judgement.deviations.stale_entries(result.judgement.stale):
        yield f"stale: {line}"
    new = [each for each in found if each.status == Status.FAIL]
    known = len(found) - len(new)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(result.summary.items()))
    yield f"{counted(len(new), 'finding')}" + (f", {known} known" if known else "") + f": {counts}"
    if not result.judgement.complete:
        done, planned = len(result.judgement.verdicts), result.judgement.planned
        yield f"PARTIAL: {done} of {planned} verdicts; the options of the run leave out the others"


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
    yield f"  Reproduce  {result.command_of(finding)}"
    yield ""
