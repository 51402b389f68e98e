"""A failure is shown once in full, and in one line in the summary and in JUnit files."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from llm_conformance.pytest_plugin.failures import OWN_FAULT
from tests import inline, miniature

HEADLINE = "SHP-1: expected an answer; it raised TypeError: dict expected at most 1 argument, got 2"


@pytest.fixture(autouse=True)
def in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set CI: then pytest's summary shows the whole message of a failure, not only its first line."""
    monkeypatch.setenv("CI", "true")


@pytest.mark.parametrize("processes", inline.WORKERS)
def test_the_summary_and_junit_have_one_line_for_a_failure(
    pytester: pytest.Pytester, processes: tuple[str, ...]
) -> None:
    miniature.write(pytester.path / "own")
    pytester.makepyfile(wrong="class A:\n    providers = ['deepseek']\n    parse = dict\nconformance_adapter = A")
    result = inline.run(
        pytester,
        str(miniature.RULES),
        "--adapter=wrong",
        "--conformance-cassettes=own",
        "--conformance-scenario=mini/spider",
        "--conformance-rule=SHP-1",
        "--junitxml=junit.xml",
        "-rf",
        *processes,
    )
    lines = result.stdout.lines
    assert len([line for line in lines if line.startswith("Reproduce ")]) == 1
    summary = lines[next(number for number, line in enumerate(lines) if "short test summary info" in line) + 1 : -1]
    (line,) = [each for each in summary if each]
    assert line.endswith(f"scenarios::wrong-mini/spider-parse - {HEADLINE}")
    (failure,) = ElementTree.parse(pytester.path / "junit.xml").iter("failure")
    assert failure.get("message") == HEADLINE
    assert "\nActual " in (failure.text or "")


@pytest.mark.parametrize("processes", inline.WORKERS)
def test_the_summary_says_that_a_fault_is_one_of_the_suite(
    pytester: pytest.Pytester, processes: tuple[str, ...]
) -> None:
    miniature.write(pytester.path / "own")
    pytester.makepyfile(
        breaks="""
        from llm_conformance.judging import cell_judge

        def judge_exchange(rule, exchange):
            raise LookupError("no such thing")

        cell_judge.judge_exchange = judge_exchange
        """
    )
    result = inline.run(
        pytester,
        str(miniature.RULES),
        "--adapter=adapters",
        "--conformance-cassettes=own",
        "--conformance-scenario=mini/spider",
        "--conformance-rule=MSG-2",
        "--conformance-method=parse",
        "-p",
        "breaks",
        *processes,
    )
    assert result.ret == 3
    result.stdout.fnmatch_lines([f"FAILED *-mini/spider-parse* - {OWN_FAULT} LookupError: no such thing"])
