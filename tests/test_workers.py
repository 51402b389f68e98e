"""Workers of pytest-xdist: how many there are for `-n auto`, and that they report what one process reports."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from tests import miniature

CPUS = "PYTEST_XDIST_AUTO_NUM_WORKERS"


class Cpus:
    """A plugin that says how many CPUs there are."""

    def __init__(self, number: int) -> None:
        self._number = number

    @pytest.hookimpl(tryfirst=True)
    def pytest_xdist_auto_num_workers(self) -> int:
        """Return the number."""
        return self._number


def workers(pytester: pytest.Pytester, cpus: int, *arguments: str) -> object:
    """Return how many workers are started on a machine with so many CPUs."""
    config = pytester.parseconfig("-n", "auto", *arguments)
    config.pluginmanager.register(Cpus(cpus))
    return config.hook.pytest_xdist_auto_num_workers(config=config)


@pytest.fixture(autouse=True)
def _without_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CPUS, raising=False)


@pytest.mark.parametrize(("cpus", "started"), [(1, 2), (2, 3), (3, 5), (8, 12)])
def test_half_as_many_workers_again_judge_an_adapter(pytester: pytest.Pytester, cpus: int, started: int) -> None:
    assert workers(pytester, cpus, "--adapter=adapters") == started


def test_other_runs_have_as_many_workers_as_ever(pytester: pytest.Pytester) -> None:
    assert workers(pytester, 2) == 2


def test_a_number_that_the_user_sets_is_kept(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CPUS, "1")
    assert workers(pytester, 1, "--adapter=adapters") == 1


KNOWN = """
[[deviation]]
rule = "{rule}"
scenario = "{scenario}"
reason = "not mapped yet"
link = "https://example.com/7"
"""
DEVIATIONS = KNOWN.format(rule="SHP-1", scenario="mini/*") + KNOWN.format(rule="ANN-1", scenario="mini/*")
"""The first entry names failures, the second none."""


def reported(pytester: pytest.Pytester, *options: str) -> tuple[list[str], dict[str, Any], list[str]]:
    """Judge an adapter. Return the summary, the JSON report and the test cases of the JUnit file."""
    ours = ("--adapter=half.py", "--conformance-deviations=known.toml", "--conformance-examples=0")
    result, report = miniature.run(pytester, *ours, "--junitxml=junit.xml", *options, apart=True)
    del report["finished"]
    report["results"].sort(key=str)  # workers judge in another order
    (start,) = (at for at, line in enumerate(result.outlines) if line.startswith("conversations right"))
    cases = ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    named = sorted(" ".join((each.get("name", ""), *(child.tag for child in each))) for each in cases)
    return result.outlines[start:-1], report, named  # the last line is pytest's, and has the time


@pytest.mark.parametrize(
    "selected",
    [(), ("-k", "parse"), ("--conformance-rule=TOOL-1", "--conformance-scenario=deepseek/*")],
    ids=["all", "some items", "cells that need no item, too"],
)
def test_two_workers_report_what_one_process_does(pytester: pytest.Pytester, selected: tuple[str, ...]) -> None:
    (pytester.path / "half.py").write_text(miniature.HALF_WRONG)
    (pytester.path / "known.toml").write_text(DEVIATIONS)
    assert reported(pytester, *selected, "-n", "2") == reported(pytester, *selected)
