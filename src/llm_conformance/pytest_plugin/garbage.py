"""Keep Python's garbage collector away from objects that live as long as the run.

Scenarios, rules and test items are hundreds of thousands of objects. The collector would visit all of them again and
again, and five more times when pytest ends. That takes a tenth of a run's time.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator

import pytest

from llm_conformance.locations import STARTED_AS


class Garbage:
    """The plugin that freezes objects which live as long as the run. It is registered before anything is loaded."""

    NAME = "conformance-garbage"

    def __init__(self) -> None:
        gc.disable()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """If Hypothesis is loaded, freeze everything that was loaded and collected."""
        # When Hypothesis is loaded, other modules register their random number generators with it. Hypothesis asks the
        # collector what refers to a generator, and warns if nothing does. The collector does not see references from
        # frozen objects, so nothing may be frozen before that.
        if "hypothesis" in sys.modules:
            gc.freeze()
        gc.enable()
        try:
            return (yield)
        finally:
            gc.unfreeze()

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """If the process ends now, freeze everything, so that pytest does not make the collector visit it again."""
        gc.enable()
        if STARTED_AS in os.environ or hasattr(config, "workerinput"):
            gc.freeze()
