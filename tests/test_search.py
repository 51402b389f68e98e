"""The search with generated examples: what it finds is shown, kept and can be reproduced."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from llm_conformance.judging.effort import Effort
from llm_conformance.reports import files
from llm_conformance.scenarios.canary import TOKEN, swapped
from llm_conformance.scenarios.scenario import Scenario
from tests import inline, miniature

TRIMS = f"{Path(__file__).with_name('broken') / 'message.py'}:TrimmedMessage"
ARGUMENTS = (f"--adapter={TRIMS}", "--conformance-scenario=zai/generated-*-answers", "-q", "--conformance-examples=100")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return inline.run(pytester, str(miniature.RULES), "--tb=short", *arguments)


@pytest.mark.usefixtures("with_cache")
def test_a_counterexample_is_shown_kept_and_reproduced(pytester: pytest.Pytester) -> None:
    report = pytester.path / "report.json"
    result = run(pytester, *ARGUMENTS, f"--conformance-report={report}")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "Requirement  MSG-2: *",
            "Actual       *",
            "Where        zai/generated-chat-answers-*, json, parse",
            "Scenario     Generated: * (generated; */zai/generated-chat-answers-*.scenario.yaml)",
            'Body         {"id": "*", *',
            "All expected *",
            "Returned     *",
            "Reproduce    *--conformance-rule=MSG-2",
        ]
    )
    (found,) = [each for each in files.read(report)["results"] if each["rule"] == "MSG-2" and each["status"] == "fail"]
    assert found["scenario"] == "zai/generated-chat-answers"
    assert found["provenance"] == "generated"
    assert Path(found["example"]["kept"]).is_file()
    command = next(line for line in result.outlines if line.startswith("Reproduce"))
    again = run(pytester, *(word for word in shlex.split(command) if word.startswith("--")), "-q")
    again.stdout.fnmatch_lines(["cells: 1 fail"])
    assert again.ret == 1


@pytest.mark.usefixtures("with_cache")
def test_a_counterexample_that_cannot_be_kept_is_shown(pytester: pytest.Pytester) -> None:
    blocked = pytester.path / "no-directory"
    blocked.touch()
    result = run(pytester, *ARGUMENTS, "-o", f"cache_dir={blocked}", "-W", "ignore::pytest.PytestCacheWarning")
    result.stdout.fnmatch_lines(["Requirement  MSG-2: *", "Not kept     there is no directory for it *"])
    assert result.ret == 1


def test_status_headers_and_faults_are_shown(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        mine="""
        class Deaf:
            providers = ["deepseek"]

            def complete(self, call):
                raise OSError("no answer")

            def parse(self, http, call):
                raise OSError("no answer")

        conformance_adapter = Deaf
        """
    )
    kinds = [f"--conformance-scenario=deepseek/generated-chat-{kind}" for kind in ("statuses", "disconnected")]
    result = run(pytester, "--adapter=mine", *kinds, "-q")
    result.stdout.fnmatch_lines(["Status       ???", 'Headers      {"content-type": *'])
    result.stdout.fnmatch_lines_random(["Fault        * after * of * bytes"])


def test_ci_finds_the_same_counterexample_in_every_run(pytester: pytest.Pytester) -> None:
    first, second = (run(pytester, *ARGUMENTS, "--conformance-examples=ci") for _ in range(2))
    where = [line for line in first.outlines if line.startswith("Where")]
    assert where
    assert where == [line for line in second.outlines if line.startswith("Where")]


def test_a_run_without_generated_examples_is_partial(pytester: pytest.Pytester) -> None:
    result, report = miniature.run(pytester, "--adapter=adapters", "--conformance-examples=0", "-q")
    assert result.ret == 0
    assert report["examples"] == 0
    assert report["complete"] is False
    assert {each["status"] for each in report["results"] if each["rule"] == "STR-4"} == {"vacuous"}


@pytest.mark.parametrize("wrong", ["many", "-1", "1.5", ""])
def test_a_bad_number_of_examples_is_a_usage_error(pytester: pytest.Pytester, wrong: str) -> None:
    result = run(pytester, "--adapter=adapters", f"--conformance-examples={wrong}")
    result.stderr.fnmatch_lines(
        [f"ERROR: --conformance-examples={wrong}: must be a whole number from 0, or one of quick, ci, deep"]
    )
    assert result.ret == 4


def test_effort() -> None:
    assert Effort.named("quick").reproducible
    assert Effort.named("ci").reproducible
    assert not Effort.named("deep").reproducible
    assert Effort.named("300") == Effort(300)
    assert Effort(10).times(0.01).examples == 1
    assert Effort(0).times(4).examples == 0


def test_apis_of_one_format_share_the_examples_of_a_profile() -> None:
    assert Effort.named("ci").times(2, among=4) == Effort(100, reproducible=True, shared=True, first=25)
    assert Effort.named("quick").times(2, among=4).parts == (25,)
    assert Effort.named("ci").times(2, among=4).parts == (25, 75)
    assert Effort.named("ci").times(2, among=25).examples == 18  # all 25 together get as many as five
    assert Effort.named("quick").times(1).examples == 25
    assert Effort.named("300").times(1, among=25).examples == 300
    assert Effort.named("deep").times(1, among=25).examples == 5000


def test_what_ci_draws_first_is_what_quick_draws() -> None:
    for factor in (4, 0.5, 0.1, 0.004):
        quick, ci = (Effort.named(effort).times(factor, among=7) for effort in ("quick", "ci"))
        assert ci.first == quick.examples >= 1
        assert ci.examples >= quick.examples


def test_a_canary_replaces_the_reasoning_everywhere(scenarios: list[Scenario]) -> None:
    without = []
    for scenario in scenarios:
        for mode, expected in scenario.expected.items():
            if expected.reasoning is None or expected.error:
                assert swapped(scenario, mode) is None
                continue
            changed = swapped(scenario, mode)
            if changed is None:
                without.append(f"{scenario.id} {mode}")
                continue
            body = changed.interactions[mode].body.decode("utf-8", "surrogateescape")
            assert TOKEN in (changed.expected[mode].reasoning or "")
            if scenario.api.provider != "perplexity":  # its chunks repeat the text in a field that no reader may use
                assert json.dumps(expected.reasoning, ensure_ascii=False)[1:-1] not in body, scenario.id
            assert changed.expected[mode].message == expected.message
    assert without == []
