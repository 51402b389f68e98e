"""Spare a run that draws nothing the import of Hypothesis: half a second of processor time.

Hypothesis' own plugin imports it when a run is summed up, to tell where observations of its tests were written.
"""

from __future__ import annotations

import sys

import pytest

from llm_conformance.pytest_plugin.failures import JudgingItem

_PLUGIN = "hypothesispytest"
"""The name of Hypothesis' plugin: that of its entry point."""


class IdleHypothesis:
    """The plugin that does it: it takes Hypothesis' plugin out of a run in which no test has used Hypothesis."""

    NAME = "conformance-idle-hypothesis"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Take the plugin out if all tests were the suite's own, in this process, and have not imported Hypothesis."""
        plugins = session.config.pluginmanager
        is_idle = bool(session.testscollected) and all(isinstance(item, JudgingItem) for item in session.items)
        if is_idle and "hypothesis" not in sys.modules and plugins.has_plugin(_PLUGIN):
            plugins.unregister(name=_PLUGIN)
