"""Warnings are errors in the project's own tests, and only there."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from tests.shell import ROOT, sh

WARNING_PLUGIN = """\
import warnings

def pytest_configure(config):
    warnings.warn("an old setting", DeprecationWarning, stacklevel=2)

def pytest_collection_modifyitems(items):
    warnings.warn("an old hook", DeprecationWarning, stacklevel=2)

def pytest_runtest_call(item):
    warnings.warn("an old way to run", DeprecationWarning, stacklevel=2)
"""


def test_a_warning_is_an_error_here() -> None:
    with pytest.raises(UserWarning, match="told"):
        warnings.warn("told", UserWarning, stacklevel=1)


def test_a_plugin_of_the_user_that_warns_does_not_end_a_run_in_a_clone(tmp_path: Path) -> None:
    (tmp_path / "warns.py").write_text(WARNING_PLUGIN, "utf-8")
    one_call = ("--conformance-scenario=avian/error-401", "--conformance-method=parse", "--conformance-examples=0")
    command = (sys.executable, "-m", "pytest", "-p", "warns", "conformance", "--adapter=adapters", *one_call)
    done = sh(*command, cwd=ROOT, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "an old setting" in done.stderr
    assert "an old way to run" in done.stdout
