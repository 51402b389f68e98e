"""Keep the terminal brief: one line of progress, not a character and a section for each of thousands of cells.

The findings in the summary say what fails. Other tests of the same run look as usual. With `-v`, `--tb` or `-r` on the
command line, the output is pytest's own.
"""

from __future__ import annotations

import time
from collections.abc import Generator

import pytest

from llm_conformance.pytest_plugin.failures import JudgingItem

JUDGED = "conformance_judged"
"""The attribute of the suite's test reports. It is False for a fault of the suite, and otherwise True."""

_CATEGORIES = {"failed": "failing", "skipped": "not judged", "xfailed": "failing as expected"}
"""Maps pytest's categories to ours. pytest prints a section or a line for each report of its own categories only."""

_LINES = 10
_LOG_EVERY_S = 5.0
_REWRITE_EVERY_S = 0.1
_REWRITTEN = "\n\x1b[F"
"""Ends a line that is to be rewritten. For pytest, the line has ended, but the cursor goes back to its start."""


def is_wanted(config: pytest.Config) -> bool:
    """Return True unless the user asks for the details of tests."""
    given = config.invocation_params.args
    asked = any(argument.startswith("-r") for argument in given)
    return not asked and config.getoption("verbose") <= 0 and config.getoption("tbstyle") == "auto"


class BriefTerminal:
    """The plugin that keeps the terminal brief."""

    NAME = "conformance-brief"

    def __init__(self) -> None:
        self._terminal: pytest.TerminalReporter | None = None
        self._session: pytest.Session | None = None
        self._own: frozenset[str] = frozenset()
        self._done = 0
        self._failed = 0
        self._shown_at = time.monotonic()
        self._shown = 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Find pytest's terminal, unless the user asks for details. The terminal does not exist earlier."""
        self._session = session
        if is_wanted(session.config):
            self._terminal = session.config.pluginmanager.get_plugin("terminalreporter")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which items are the suite's. The controller of pytest-xdist collects none."""
        self._own = frozenset(item.nodeid for item in session.items if isinstance(item, JudgingItem))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> Generator[None]:
        """Keep pytest from writing the path of the module."""
        terminal = self._terminal
        if terminal is None or nodeid not in self._own:
            return (yield)
        before, terminal.showfspath = terminal.showfspath, False
        try:
            return (yield)
        finally:
            terminal.showfspath = before

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Return our category for a report of the suite, without a character to print."""
        if self._terminal is None or not getattr(report, JUDGED, False) or report.when != "call":
            return None
        category = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        return _CATEGORIES.get(category, category), "", ""

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Show the progress."""
        if self._terminal is not None and report.when == "call" and hasattr(report, JUDGED):
            self._done += 1
            self._failed += report.failed
            self._show_progress(self._terminal)

    def _show_progress(self, terminal: pytest.TerminalReporter) -> None:
        """Write the line if it is time. The last line has no line end, so that pytest's `[100%]` follows on it."""
        planned = self._planned
        text = f"{self._done} of {planned} judged" + f", {self._failed} failing" * bool(self._failed)
        since_s = time.monotonic() - self._shown_at
        erase = "\x1b[K" if terminal.isatty and terminal.hasmarkup else ""
        if self._done == planned:
            terminal.ensure_newline()
            terminal.write(f"{erase}{text}", flush=True)
        elif erase and since_s >= _REWRITE_EVERY_S:
            terminal.ensure_newline()
            terminal.write(f"{erase}{text}{_REWRITTEN}", flush=True)
        elif not erase and since_s >= _LOG_EVERY_S and self._done - self._shown >= planned / _LINES:
            terminal.write_line(text)
            terminal.flush()
        else:
            return
        self._shown_at, self._shown = time.monotonic(), self._done

    @property
    def _planned(self) -> int:
        return len(self._own) or (self._session.testscollected if self._session else 0)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self) -> Generator[None]:
        """After all sections, move the reports back to pytest's categories, which pytest's last line counts."""
        result = yield
        stats = {} if self._terminal is None else self._terminal.stats
        for usual, ours in _CATEGORIES.items():
            if reports := stats.pop(ours, []):
                stats.setdefault(usual, []).extend(reports)
        return result
