"""Keep Python's garbage collector away from what lives as long as the run.

Scenarios, rules and test items are hundreds of thousands of objects. The collector would look at all of them again and
again, and pytest makes it do so five times more at the end: a tenth of the time of a run.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator

import pytest

from llm_conformance.locations import STARTED_AS


class Garbage:
    """The plugin that does it. It is registered before anything is loaded."""

    NAME = "conformance-garbage"

    def __init__(self) -> None:
        gc.disable()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Leave out what has been loaded and collected."""
        # When Hypothesis is loaded, other modules tell it of their random numbers. It then asks the collector who else
        # knows these, and warns if nobody does; the collector knows nothing of what it leaves out.
        if "hypothesis" in sys.modules:
            gc.freeze()
        gc.enable()
        try:
            return (yield)
        finally:
            gc.unfreeze()

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        """Leave out everything if the process ends now, which frees all. pytest makes the collector look then."""
        gc.enable()
        if STARTED_AS in os.environ:
            gc.freeze()
