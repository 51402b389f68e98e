"""The same verdicts, however the suite is run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import miniature

SHUFFLE = """\
import random

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    random.Random(7).shuffle(items)
"""


def judged(pytester: pytest.Pytester, *options: str) -> list[dict[str, Any]]:
    """Return the verdicts on an adapter that is right and one that is wrong, recorded and drawn, in one order."""
    report = pytester.path / "report.json"
    result = pytester.runpytest_subprocess(
        str(miniature.RULES),
        "--adapter=tests.broken.content:TrimmedMessage",
        "--adapter=adapters",
        "--conformance-scenario=zai/*thinking*",
        "--conformance-scenario=zai/generated-chat-usage",
        "--conformance-examples=ci",
        "--conformance-face=parse",
        "--conformance-face=stream",
        f"--conformance-report={report}",
        *("-q", "--tb=no", "--no-summary"),
        *options,
    )
    assert result.ret == 1
    results: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["results"]
    for each in results:
        each.get("example", {}).pop("kept", None)  # a path
    return sorted(results, key=lambda each: json.dumps(each, sort_keys=True))


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ((), {}),
        (("-p", "shuffle"), {}),
        (("-n", "2"), {}),
        (("-W", "error"), {}),
        ((), {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Pacific/Kiritimati"}),
        ((), {"PYTHONHASHSEED": "4711", "PYTHONOPTIMIZE": "1"}),
    ],
    ids=["again", "in another order", "in two processes", "warnings as errors", "in another place", "optimised"],
)
def test_the_verdicts_are_the_same(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], environment: dict[str, str]
) -> None:
    pytester.makepyfile(shuffle=SHUFFLE)
    first = judged(pytester)
    assert {each["status"] for each in first} >= {"pass", "fail"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert judged(pytester, *options) == first
