"""The result of a run, and the JSON report that is made from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from llm_conformance import __version__, secrets
from llm_conformance.judging.status import Status, exit_code
from llm_conformance.judging.verdict import Verdict
from llm_conformance.reports.document import Document
from llm_conformance.server.catalogue import capabilities_of, catalogue
from llm_conformance.server.conversations import conversation_of
from llm_conformance.server.findings import Finding, findings, not_judged
from llm_conformance.server.judge import Judgement
from llm_conformance.server.plan import Target
from llm_conformance.server.recordings import Recording
from llm_conformance.server.reports import exchanges
from llm_conformance.wording import command_line


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes:
        command: The words of a command that repeats the judgement. A finding adds its rule and conversation.
        kept: The recordings that were judged.
    """

    target: Target
    judgement: Judgement
    command: tuple[str, ...]
    kept: Sequence[Recording]

    @property
    def summary(self) -> Counter[str]:
        """The number of verdicts by status."""
        counts = Counter(each.status for each in self.judgement.verdicts)
        return counts + Counter({Status.STALE.value: len(self.judgement.stale)})

    @property
    def exit_code(self) -> int:
        """The exit code, with the same meaning as for `llm-conformance run`."""
        return exit_code(self.summary)

    def command_of(self, finding: Finding) -> str:
        """Return the command that shows a finding again, with its bytes."""
        example = finding.example
        conversation = conversation_of(example.scenario.partition("/")[2])
        words = [*self.command, f"--rule={finding.rule}", f"--conversation={conversation}"]
        if any(word.startswith("--replay") for word in self.command):  # the folder also has what the rule compares with
            words.append(f"--mode={example.mode}")
        return command_line([*words, "-v"])


def document(result: Result) -> Document:
    """Return the JSON report; `schemas/server-report.schema.json` describes it."""
    target, judgement = result.target, result.judgement
    found = findings(judgement.verdicts)
    return {
        "suite": {"name": "llm-conformance", "version": __version__},
        "server": {
            "url": target.url,
            "api": target.api,
            "model": target.model,
            "capabilities": sorted(target.claims),
            "not_claimed": [each for each in capabilities_of(target.api) if each not in target.claims],
        },
        "calls": judged(judgement.verdicts),
        "findings": [_finding(each, result) for each in found],
        "exchanges": list(exchanges.of_findings(found, result.kept)),
        "not_judged": {rule: dict(reasons) for rule, reasons in not_judged(judgement.verdicts)},
        "results": [_result(each) for each in judgement.verdicts],
        "deviations": list(_deviations(judgement)),
        "summary": dict(sorted(result.summary.items())),
        "edition": judgement.edition,
        "planned": judgement.planned,
        "complete": judgement.complete,
        "finished": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }


def judged(verdicts: Iterable[Verdict]) -> int:
    """Return the number of answers in the verdicts, without answers that were not asked for."""
    return len({(each.scenario, each.mode) for each in verdicts if each.status != Status.UNSUPPORTED})


def _result(verdict: Verdict) -> dict[str, Any]:
    message = {} if verdict.message is None else {"message": secrets.hide(verdict.message)}
    cause = {} if verdict.cause is None else {"cause": secrets.hide(verdict.cause)}
    known = {} if verdict.deviation is None else {"deviation": verdict.deviation}
    return {
        "rule": verdict.rule,
        "conversation": verdict.scenario,
        "mode": verdict.mode,
        "status": verdict.status,
        **message,
        **cause,
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
        "cause": secrets.hide(finding.example.cause or ""),
        "failures": [[each.scenario, each.mode] for each in finding.failures],
        "command": result.command_of(finding),
    }


def _deviations(judgement: Judgement) -> Iterator[dict[str, Any]]:
    borne_out = {at for each in judgement.verdicts if each.status == Status.EXPECTED for at in each.deviations}
    for at, each in enumerate(judgement.deviations.to_dicts()):
        status = Status.EXPECTED if at in borne_out else Status.STALE if at in judgement.stale else None
        yield {**each, "status": status.value if status else "not seen"}
