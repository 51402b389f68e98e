"""Failures as people read them: without a traceback, and with one line for summaries."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest._code.code import (
    ExceptionInfo,
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
    TerminalRepr,
)

from llm_conformance.compare import encodable

OWN_FAULT = "This is a fault of llm-conformance, not of the adapter."


class Failures(AssertionError):  # noqa: N818 - it is what failed, in words
    """What is wrong: for each failure a `headline` of one line, and all that is to be told."""

    def __init__(self, told: Sequence[str], headlines: Sequence[str]) -> None:
        super().__init__(encodable("\n\n".join(told)))
        first, *others = map(encodable, headlines)
        self.headline = f"{first} (and {len(others)} more)" if others else first


class JudgingItem(pytest.Item):
    """A test item that raises `Failures` where the adapter is wrong; all else it raises is a fault of the suite."""

    def repr_failure(self, excinfo: ExceptionInfo[BaseException], *_: object) -> TerminalRepr:
        """Tell failures in their own words; only a fault of the suite's own comes with a traceback.

        The form is that of pytest's own failures, which xdist hands on, and JUnit files and the summary take one line
        of: a mere text would stand there once more, whole, in every CI.
        """
        if isinstance(excinfo.value, pytest.xfail.Exception):  # its traceback would be made for nobody, at great length
            told = headline = str(excinfo.value)
        elif isinstance(excinfo.value, Failures):
            told, headline = str(excinfo.value), excinfo.value.headline
        else:
            told = f"{OWN_FAULT}\n\n{super().repr_failure(excinfo)}"
            headline = f"{OWN_FAULT} {excinfo.exconly()}".partition("\n")[0]
        path, line = self.reportinfo()[:2]
        shown = ReprTraceback([ReprEntryNative([f"{told}\n"])], None, style="native")
        return ReprExceptionInfo(shown, ReprFileLocation(str(path), line or 0, headline))
