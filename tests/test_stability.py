"""The verdicts do not depend on order, processes, locale, time zone or hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.locations import ROOT
from llm_conformance.reports import files
from tests import miniature

SHUFFLE = """\
import random

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    random.Random(7).shuffle(items)
"""


def results(directory: Path, *options: str, **environment: str) -> list[dict[str, Any]]:
    """Return the results of a correct and a broken adapter, sorted: recorded scenarios and generated ones."""
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
    found: list[dict[str, Any]] = files.read(report)["results"]
    for each in found:
        each.get("example", {}).pop("kept", None)  # a path that differs between runs
    return sorted(found, key=lambda each: json.dumps(each, sort_keys=True))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    found = results(tmp_path_factory.mktemp("first"))
    assert {each["status"] for each in found} >= {"pass", "fail"}
    return found


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (("-p", "shuffle"), {}),
        (("-n", "2"), {}),
        (
            ("-W", "error"),
            {
                **{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Pacific/Kiritimati"},
                "PYTHONHASHSEED": "4711",
            },
        ),
    ],
    ids=[
        "in another order",
        "in two processes",
        "in another place, with another hash seed, warnings as errors",
    ],
)
def test_the_verdicts_are_the_same(
    first: list[dict[str, Any]], tmp_path: Path, options: tuple[str, ...], environment: dict[str, str]
) -> None:
    (tmp_path / "shuffle.py").write_text(SHUFFLE)
    assert results(tmp_path, *options, **environment) == first
