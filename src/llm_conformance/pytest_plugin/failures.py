"""Failures as users read them: without a traceback, and with one line for summaries."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pytest

from llm_conformance.compare import encodable
from llm_conformance.judging.cell_judge import JudgedRule
from llm_conformance.judging.status import Status
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict
from llm_conformance.pytest_plugin.run import Run

OWN_FAULT = "This is a fault of llm-conformance, not of the adapter."


Told = Literal["passed", "failure", "xfail", "skip"]
"""What a JUnit file calls the outcome of a test case; `xfail` and `skip` are kinds of skips there."""

_TOLD: Mapping[str, Told] = {
    Status.PASS: "passed",
    Status.PROBE_PASSED: "passed",
    Status.FAIL: "failure",
    Status.EXPECTED: "xfail",
    Status.NEW: "xfail",
    Status.PROBE_FAILED: "xfail",
}


class Failures(AssertionError):  # noqa: N818 - the name says that these are failures of the adapter
    """What the adapter does wrong: one text for each failure, and a `headline` of one line for all of them."""

    def __init__(self, texts: Sequence[str], headlines: Sequence[str]) -> None:
        super().__init__(encodable("\n\n".join(texts)))
        first, *others = map(encodable, headlines)
        self.headline = f"{first} (and {len(others)} more)" if others else first


class JudgingItem(pytest.Item):
    """A test item that raises `Failures` if the adapter is wrong; any other error is a fault of the suite.

    Attributes:
        judged: What is judged: the name of an adapter, or all adapters.
        heading: What the item is about, for people: scenario and method.
        told: The verdicts that a JUnit file lists one by one; they are forgotten when the item is reported.
    """

    judged: str
    heading: str
    told: Sequence[JudgedRule] = ()
    _run: Run

    @functools.cached_property
    def tally(self) -> Tally:
        """The verdicts of a run of the item, from its beginning until they are reported."""
        return self._run.new_tally(items=1)

    def conclude(self, judged: Sequence[JudgedRule]) -> None:
        """Raise what makes pytest's outcome of the item: the worst of the verdicts."""
        failures = [(each.failure, each.verdict.headline) for each in judged if each.failure is not None]
        if failures:
            raise Failures(*zip(*failures, strict=True))
        deviations = self._run.settings.deviations
        by_status: dict[str, list[Verdict]] = {}
        for each in judged:
            by_status.setdefault(each.verdict.status, []).append(each.verdict)
        if known := by_status.get(Status.EXPECTED):
            pytest.xfail("; ".join(dict.fromkeys(map(deviations.reason, known))))
        for status, label in ((Status.NEW, "new"), (Status.PROBE_FAILED, "probe")):
            if told := by_status.get(status):
                pytest.xfail(encodable(f"{label}: {'; '.join(each.headline for each in told)}"))
        if not (self.tally.summary[Status.PASS] or self.tally.summary[Status.PROBE_PASSED]):
            pytest.skip(encodable(self.nothing_judged(judged)))

    def nothing_judged(self, judged: Sequence[JudgedRule]) -> str:
        """Return why no rule has judged anything, as one line."""
        return next((f"{each.verdict.status}: {each.verdict.message}" for each in judged), "no rule applies")

    def told_of(self, judged: JudgedRule) -> tuple[str, Told, str, str | None]:
        """Return the rule, the outcome, a message of one line and the text of a verdict, for a JUnit file."""
        verdict = judged.verdict
        message = f"{verdict.status}: {verdict.message}"
        if verdict.status == Status.FAIL:
            message = verdict.headline
        elif verdict.status == Status.EXPECTED:
            message = self._run.settings.deviations.reason(verdict)
        text = None if judged.failure is None else encodable(judged.failure)
        return verdict.rule, _TOLD.get(verdict.status, "skip"), encodable(message), text

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failures as they are, and a fault of the suite with its traceback.

        Both keep the type of pytest's own failures, with a one-line message: pytest's summary and JUnit files take
        their line from it, and would repeat a plain text in full.
        """
        if isinstance(excinfo.value, Failures | pytest.xfail.Exception):
            shown = excinfo.getrepr(style="value", tbfilter=False, chain=False)
            headline = getattr(excinfo.value, "headline", str(excinfo.value))
        else:
            shown = excinfo.getrepr(style=style or "short")
            shown.addsection("llm-conformance", OWN_FAULT)
            headline = f"{OWN_FAULT} {excinfo.exconly()}".partition("\n")[0]
        if shown.reprcrash is not None:
            path, line = self.reportinfo()[:2]
            shown.reprcrash.path, shown.reprcrash.lineno, shown.reprcrash.message = str(path), line or 0, headline
        return shown
