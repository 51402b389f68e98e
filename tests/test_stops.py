"""An adapter that dies alike in every call is not asked any more, and never green."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from llm_conformance.judging.calls.stops import ALIKE, ALIKE_ELSEWHERE, Stops
from llm_conformance.reports import files
from llm_conformance.rules.outcome import Outcome
from tests import inline, miniature

DEAD = Outcome(fault="raised KeyError", cause="KeyError in a.py:1 f")
PARSE, STREAM = ("mine", "openai:chat", "parse"), ("mine", "openai:chat", "stream")
ELSEWHERE = ("mine", "zai:chat", "parse")


def died(stops: Stops, place: tuple[str, str, str], times: int, outcome: Outcome = DEAD) -> bool:
    """Note failures; return whether calls are not made any more."""
    for _ in range(times):
        stops.note(place, "fail", outcome)
    return stops.cause(place) is not None


def test_calls_that_die_alike_are_not_made_any_more() -> None:
    stops = Stops()
    assert not died(stops, PARSE, ALIKE - 1)
    assert died(stops, PARSE, 1)
    assert stops.cause(STREAM) is None


def test_one_call_that_works_is_enough() -> None:
    stops = Stops()
    stops.note(PARSE, "pass", Outcome())
    assert not died(stops, PARSE, 2 * ALIKE)


def test_two_causes_are_not_alike() -> None:
    stops = Stops()
    died(stops, PARSE, 1, Outcome(fault="raised ValueError", cause="ValueError in a.py:2 f"))
    assert not died(stops, PARSE, 2 * ALIKE)


def test_known_deviations_do_not_count() -> None:
    stops = Stops()
    for _ in range(2 * ALIKE):
        stops.note(PARSE, "expected", DEAD)
    assert stops.cause(PARSE) is None


def test_the_next_api_needs_fewer_calls_to_die_of_the_same_cause() -> None:
    stops = Stops()
    died(stops, PARSE, ALIKE)
    assert died(stops, ELSEWHERE, ALIKE_ELSEWHERE)


def test_an_exchange_that_was_made_is_judged_by_all_rules() -> None:
    stops = Stops()
    stops.note_asked(PARSE, "openai/a")
    died(stops, PARSE, ALIKE)
    assert stops.cause(PARSE, "openai/a") is None
    assert stops.cause(PARSE, "openai/b")


def test_a_run_that_needs_all_failures_asks_on() -> None:
    assert not died(Stops(is_active=False), PARSE, 2 * ALIKE)


DYING = """
def read(body):
    return body["nope"]


class conformance_adapter:
    providers = ["openai:chat"]

    def parse(self, http, call):
        return read({})

    def parse_stream(self, chunks, call):
        yield from %s
"""


def judge(
    pytester: pytest.Pytester, stream: str, *options: str, apart: bool = False
) -> tuple[pytest.RunResult, dict[str, Any]]:
    (pytester.path / "dying.py").write_text(DYING % stream, "utf-8")
    report = pytester.path / "report.json"
    arguments = ("--adapter=dying", "--conformance-examples=0", f"--conformance-report={report}", *options)
    return inline.run(pytester, str(miniature.RULES), *arguments, apart=apart), files.read(report)


@pytest.mark.parametrize("processes", inline.WORKERS)
def test_an_adapter_that_dies_in_every_call_is_said_once(pytester: pytest.Pytester, processes: tuple[str, ...]) -> None:
    result, report = judge(pytester, "read({})", *processes, apart=True)  # the adapter has a process of its own
    assert result.ret == 1
    assert report["complete"] is False
    assert {each["method"] for each in report["not_asked"]} == {"parse", "parse_stream"}
    failed = [each for each in report["results"] if each["status"] == "fail" and each["rule"] == "SHP-1"]
    assert len(failed) <= 2 * ALIKE * (2 if processes else 1)
    result.stdout.fnmatch_lines(
        ["STOPPED: every call of parse, parse_stream for openai:chat died alike; *", "1. lost: SHP-1 *", "*KeyError*"]
    )
    assert len(result.outlines) <= 45


def test_a_method_that_dies_does_not_stop_the_other(pytester: pytest.Pytester) -> None:
    _, report = judge(pytester, "()")
    assert {each["method"] for each in report["not_asked"]} == {"parse"}
    assert {each["method"] for each in report["results"] if each["status"] == "fail"} >= {"parse", "parse_stream"}


def test_no_file_of_deviations_makes_a_dead_adapter_green(pytester: pytest.Pytester) -> None:
    result, _ = judge(pytester, "read({})", "--conformance-write-deviations=known.toml")
    assert result.ret == 1
    assert not (pytester.path / "known.toml").exists() or not tomllib.loads(
        (pytester.path / "known.toml").read_text("utf-8")
    )
    result.stdout.fnmatch_lines(["*known.toml: not written: every call of dying died alike: KeyError in *"])
