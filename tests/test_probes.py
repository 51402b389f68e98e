"""Probes: scenarios that no provider is known to send are judged, and shown apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.locations import CASSETTES
from tests import gated, miniature

SPOILT = "cerebras/tool-call-without-content-key"


def judge_a_probe(pytester: pytest.Pytester, *options: str) -> tuple[pytest.RunResult, dict[str, Any]]:
    """Judge an adapter that returns wrong ids by a copy of a scenario that is a probe."""
    gated.write(pytester.path, gated.BROKEN, package="adapters")
    folder = pytester.mkdir("more") / "mini"
    folder.mkdir()
    for suffix in (".yaml", ".scenario.yaml"):
        text = (CASSETTES / f"{SPOILT}{suffix}").read_text("utf-8")
        (folder / f"probe{suffix}").write_text(_as_probe(text), "utf-8")
    pytester.syspathinsert(pytester.path)
    return miniature.run(pytester, "--adapter=mypkg", "--conformance-examples=0", *options)


def _as_probe(text: str) -> str:
    lines = ("  grounds: probe" if line.startswith("  grounds:") else line for line in text.splitlines())
    return "\n".join(lines) + "\n"


def test_a_failing_probe_is_shown_and_does_not_fail_the_run(pytester: pytest.Pytester) -> None:
    result, report = judge_a_probe(pytester)
    assert result.ret == 5  # no cell was judged but those of the probe
    statuses = Counter(each["status"] for each in report["results"])
    assert statuses["probe-failed"] == 1
    assert statuses["probe-passed"] > 10
    assert not statuses["pass"]
    assert {each["grounds"] for each in report["results"]} == {"probe"}
    (failed,) = (each for each in report["results"] if each["status"] == "probe-failed")
    assert failed["rule"] == "PRV-1"
    judged = statuses["probe-failed"] + statuses["probe-passed"]
    result.stdout.fnmatch_lines([f"*probes: {judged - 1} of {judged} judged cells pass; no provider is known*"])


def test_a_failing_probe_fails_a_run_that_judges_probes(pytester: pytest.Pytester) -> None:
    result, report = judge_a_probe(pytester, "--conformance-probes=judge")
    assert result.ret == 1
    assert [each["rule"] for each in report["results"] if each["status"] == "fail"] == ["PRV-1"]
    result.stdout.fnmatch_lines(["*--conformance-probes=judge*"])


TRUSTING = """\
import json

from adapters import ReferenceAdapters


class Adapter(ReferenceAdapters):
    name = "mypkg"
    version = "1.0"
    complete = stream = parse_stream = None

    def __init__(self):
        super().__init__()
        self.providers = ["cerebras:chat"]

    def parse(self, http, call):
        json.loads(http.body)["choices"][0]["message"]["content"]
        return super().parse(http, call)


conformance_adapter = Adapter
"""
"""It lets a TypeError escape if an answer is JSON of another form."""


def judge_generated_probes(pytester: pytest.Pytester, *options: str) -> tuple[pytest.RunResult, dict[str, Any]]:
    (pytester.path / "mypkg.py").write_text(TRUSTING, "utf-8")
    pytester.syspathinsert(pytester.path)
    return miniature.run(pytester, "--adapter=mypkg", "--conformance-scenario=*generated-chat-mistyped", *options)


def test_a_generated_probe_that_fails_does_not_fail_the_run(pytester: pytest.Pytester) -> None:
    result, report = judge_generated_probes(pytester)
    assert result.ret == 5
    failed = [each for each in report["results"] if each["status"] == "probe-failed"]
    assert "ERR-2" in {each["rule"] for each in failed}
    assert {each["grounds"] for each in report["results"]} == {"probe"}
    assert all(each["example"] for each in failed)
    assert not [each for each in report["results"] if each["status"] in ("fail", "pass")]
    assert report["findings"] == []


def test_a_generated_probe_that_fails_fails_a_run_that_judges_probes(pytester: pytest.Pytester) -> None:
    result, report = judge_generated_probes(pytester, "--conformance-probes=judge")
    assert result.ret == 1
    assert "ERR-2" in {each["rule"] for each in report["results"] if each["status"] == "fail"}


def test_a_deviation_that_names_a_failing_probe_is_not_used(pytester: pytest.Pytester) -> None:
    known = Path(pytester.path / "known.toml")
    known.write_text(
        '[[deviation]]\nrule = "PRV-1"\nscenario = "mini/probe"\nreason = "no ids"\nlink = "https://example.com/7"\n',
        "utf-8",
    )
    result, report = judge_a_probe(pytester, f"--conformance-deviations={known}")
    assert result.ret == 5
    assert not [each for each in report["results"] if each["status"] == "expected"]
