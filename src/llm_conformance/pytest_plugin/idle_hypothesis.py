"""Avoid the import of Hypothesis in a run that draws nothing. This saves half a second of processor time.

Hypothesis' own plugin imports Hypothesis for the summary of a run, to say where it wrote observations of tests.
"""

from __future__ import annotations

import sys

import pytest

from llm_conformance.pytest_plugin.failures import JudgingItem

_PLUGIN = "hypothesispytest"
"""The name of Hypothesis' plugin, which is also the name of its entry point."""


class IdleHypothesis:
    """The plugin that removes Hypothesis' plugin from a run in which no test has used Hypothesis."""

    NAME = "conformance-idle-hypothesis"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Remove the plugin if all tests were the suite's own, ran in this process, and did not import Hypothesis.

        With workers of pytest-xdist, this process has no tests.
        """
        plugins = session.config.pluginmanager
        is_idle = bool(session.items) and all(isinstance(item, JudgingItem) for item in session.items)
        if is_idle and "hypothesis" not in sys.modules and plugins.has_plugin(_PLUGIN):
            plugins.unregister(name=_PLUGIN)
