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
"""The outcomes of a test case in a JUnit file. There, `xfail` and `skip` are kinds of skips."""

_TOLD: Mapping[str, Told] = {
    Status.PASS: "passed",
    Status.PROBE_PASSED: "passed",
    Status.FAIL: "failure",
    Status.EXPECTED: "xfail",
    Status.NEW: "xfail",
    Status.PROBE_FAILED: "xfail",
}


class Failures(AssertionError):  # noqa: N818 - the name says that these are failures of the adapter
    """What the adapter does wrong: one text for each failure, and a `headline` of one line for all failures."""

    def __init__(self, texts: Sequence[str], headlines: Sequence[str]) -> None:
        super().__init__(encodable("\n\n".join(texts)))
        first, *others = map(encodable, headlines)
        self.headline = f"{first} (and {len(others)} more)" if others else first


class JudgingItem(pytest.Item):
    """A test item that raises `Failures` if the adapter is wrong; any other error is a fault of the suite.

    Attributes:
        judged: The name of the adapter that is judged; for an item that judges all adapters, `bare recordings`.
        heading: What the item is about, as people read it: scenario and method.
        told: The verdicts that a JUnit file lists one by one. Once the item is reported, they are deleted.
    """

    judged: str
    heading: str
    told: Sequence[JudgedRule] = ()
    _run: Run

    @functools.cached_property
    def tally(self) -> Tally:
        """The verdicts of this run of the item. They are deleted when they are reported."""
        return self._run.new_tally(items=1)

    def conclude(self, judged: Sequence[JudgedRule]) -> None:
        """Give the item the outcome of the worst verdict: raise `Failures`, or pytest's exception for xfail or skip."""
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
        """Return in one line why no rule has judged anything."""
        return next((f"{each.verdict.status}: {each.verdict.message}" for each in judged), "no rule applies")

    def told_of(self, judged: JudgedRule) -> tuple[str, Told, str, str | None]:
        """Return (rule, outcome, message of one line, text) of a verdict, for a JUnit file."""
        verdict = judged.verdict
        message = f"{verdict.status}: {verdict.message}"
        if verdict.status == Status.FAIL:
            message = verdict.headline
        elif verdict.status == Status.EXPECTED:
            message = self._run.settings.deviations.reason(verdict)
        text = None if judged.failure is None else encodable(judged.failure)
        return verdict.rule, _TOLD.get(verdict.status, "skip"), encodable(message), text

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the texts of failures; for a fault of the suite, its traceback.

        Both have the type of pytest's own failures, with a message of one line. pytest's summary and JUnit files show
        that message. If this method returned a text, they would show the whole text.
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
