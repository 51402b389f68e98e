"""Running pytest within the process of the tests, which takes a fifth of the time of a process of its own."""

from __future__ import annotations

import os
from itertools import pairwise
from unittest import mock

import pytest

# pytest forgets the modules that a run within the process has imported, but not that they are attributes of their
# packages. So what a run imports is imported here.
import llm_conformance.pytest_plugin.bare_items  # noqa: F401

WORKERS = [
    pytest.param((), id="in one process"),
    pytest.param(("-n", "2"), id="in two workers", marks=pytest.mark.weekly),
]
"""How a run is distributed, for tests of what it writes and shows. tests/test_workers.py always compares the two."""


def run(pytester: pytest.Pytester, *arguments: str | os.PathLike[str], apart: bool = False) -> pytest.RunResult:
    """Run pytest with these arguments in the directory of `pytester`, and return its result.

    A run with a plugin of the test gets a process of its own, because such plugins change the suite. Any other run gets
    one with `apart`. This is necessary if a call hangs, because the run then ends its process. It is also necessary if
    the test looks at what the suite computes when it is imported, such as the commands that it prints.

    If a run is within the process of the tests, its adapters are, too. They need no process then, and tests may share
    objects with them.
    """
    has_plugin = any(name == "-p" and not str(value).startswith("no:") for name, value in pairwise(arguments))
    if apart or has_plugin:
        return pytester.runpytest_subprocess(*arguments)

    def end(status: int) -> None:
        raise AssertionError(f"the run ends its process with {status}: run it `apart`")

    with mock.patch.object(os, "_exit", end):
        return pytester.runpytest_inprocess("--conformance-isolation=none", *arguments)
