"""The same verdicts, however the suite is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.locations import ROOT
from tests import miniature

SHUFFLE = """\
import random

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    random.Random(7).shuffle(items)
"""


def judged(directory: Path, *options: str, **environment: str) -> list[dict[str, Any]]:
    """Return the verdicts on an adapter that is right and one that is wrong, recorded and drawn, in one order."""
    report = directory / "report.json"
    command = [
        *(sys.executable, "-m", "pytest", str(miniature.RULES), "-q", "--tb=no", "--no-summary"),
        "--adapter=tests.broken.message:TrimmedMessage",
        "--adapter=adapters",
        "--conformance-scenario=zai/*thinking*",
        "--conformance-scenario=zai/generated-chat-usage",
        "--conformance-examples=ci",
        "--conformance-method=parse",
        "--conformance-method=stream",
        f"--conformance-report={report}",
        *options,
    ]
    path = os.pathsep.join([str(directory), str(ROOT)])
    done = subprocess.run(command, cwd=directory, env={**os.environ, "PYTHONPATH": path, **environment}, timeout=120)
    assert done.returncode == 1
    results: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["results"]
    for each in results:
        each.get("example", {}).pop("kept", None)  # a path
    return sorted(results, key=lambda each: json.dumps(each, sort_keys=True))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    found = judged(tmp_path_factory.mktemp("first"))
    assert {each["status"] for each in found} >= {"pass", "fail"}
    return found


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ((), {}),
        (("-p", "shuffle"), {}),
        (("-n", "2"), {}),
        (("-W", "error"), {}),
        ((), {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Pacific/Kiritimati"}),
        ((), {"PYTHONHASHSEED": "4711"}),
    ],
    ids=[
        "again",
        "in another order",
        "in two processes",
        "warnings as errors",
        "in another place",
        "another hash seed",
    ],
)
def test_the_verdicts_are_the_same(
    first: list[dict[str, Any]], tmp_path: Path, options: tuple[str, ...], environment: dict[str, str]
) -> None:
    (tmp_path / "shuffle.py").write_text(SHUFFLE)
    assert judged(tmp_path, *options, **environment) == first
