"""Failures as people read them: without a traceback, and with one line for summaries."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest._code.code import (
    ExceptionInfo,
    ExceptionRepr,
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
    TerminalRepr,
)

OWN_FAULT = "This is a fault of llm-conformance, not of the adapter."


class Failures(AssertionError):  # noqa: N818 - it is what failed, in words
    """What is wrong: for each failure a `headline` of one line, and all that is to be told."""

    def __init__(self, told: Sequence[str], headlines: Sequence[str]) -> None:
        super().__init__("\n\n".join(told))
        first, *others = headlines
        self.headline = f"{first} (and {len(others)} more)" if others else first


class JudgingItem(pytest.Item):
    """A test item that raises `Failures` where the adapter is wrong; all else it raises is a fault of the suite."""

    def repr_failure(self, excinfo: ExceptionInfo[BaseException], *_: object) -> str | TerminalRepr:
        """Tell failures in their own words; only a fault of the suite's own comes with a traceback.

        The form is that of pytest's own failures, which xdist hands on, and JUnit files and the summary take one line
        of: a mere text would stand there once more, whole, in every CI.
        """
        if isinstance(excinfo.value, Failures):
            told = ReprTraceback([ReprEntryNative([f"{excinfo.value}\n"])], None, style="native")
            path, line = self.reportinfo()[:2]
            return ReprExceptionInfo(told, ReprFileLocation(str(path), line or 0, excinfo.value.headline))
        shown = super().repr_failure(excinfo)
        if isinstance(shown, ExceptionRepr) and shown.reprcrash is not None:
            shown.reprcrash.message = f"{OWN_FAULT} {shown.reprcrash.message}"
            shown.addsection("llm-conformance", OWN_FAULT)
            return shown
        return f"{OWN_FAULT}\n\n{shown}"
