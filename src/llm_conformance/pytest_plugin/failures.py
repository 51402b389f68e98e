"""Failures as users read them: without a traceback, and with one line for summaries."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest

from llm_conformance.compare import encodable
from llm_conformance.judging.tally import Tally
from llm_conformance.pytest_plugin.run import Run

OWN_FAULT = "This is a fault of llm-conformance, not of the adapter."


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
        heading: What the item is about, for people: rule, scenario and method.
    """

    judged: str
    heading: str
    _run: Run

    @functools.cached_property
    def tally(self) -> Tally:
        """The verdicts of a run of the item, from its beginning until they are reported."""
        return self._run.new_tally(items=1)

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
