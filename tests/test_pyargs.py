"""`pytest --pyargs llm_conformance` in a clone judges by the rules of the clone, wherever it is started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from llm_conformance.judging.status import Status
from llm_conformance.reports import files
from tests.shell import ROOT, sh

FAST = ("--conformance-provider=zai", "--conformance-scenario=zai/white-*", "--conformance-examples=0", "-q", "-n0")


def judged(cwd: Path, report: Path, *rules: str) -> dict[tuple[str, ...], str]:
    """Return the status of each cell of a run on the reference adapters."""
    command = (sys.executable, "-m", "pytest", *rules, "--adapter=adapters", f"--conformance-report={report}", *FAST)
    run = sh(*command, cwd=cwd)
    assert run.returncode == 0, run.stdout + run.stderr
    results = files.read(report)["results"]
    return {tuple(each[name] for name in ("rule", "scenario", "method")): each["status"] for each in results}


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_rules_of_a_clone_are_found(tmp_path: Path, elsewhere: bool) -> None:
    usual = judged(ROOT, tmp_path / "usual.json", "conformance")
    found = judged(tmp_path if elsewhere else ROOT, tmp_path / "found.json", "--pyargs", "llm_conformance")
    assert Status.PASS in found.values()
    assert found == usual


def test_one_module_of_a_clone_can_be_named(tmp_path: Path) -> None:
    found = judged(tmp_path, tmp_path / "report.json", "--pyargs", "llm_conformance.conformance.test_message")
    assert {rule.partition("-")[0] for rule, _, _ in found} == {"MSG"}
