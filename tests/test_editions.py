"""Editions: what is newer than the edition of a run is judged, and its failures do not fail the run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import __version__, editions
from llm_conformance.judging.status import Status, exit_code
from llm_conformance.locations import CASSETTES
from llm_conformance.pytest_plugin import generated_items
from llm_conformance.pytest_plugin.settings import read as settings
from llm_conformance.rules.catalogue import catalogue, rules_in
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import load
from llm_conformance.themes.theme import THEMES
from tests import gated, miniature

NEXT = """\
from llm_conformance import editions

editions.EDITIONS = ("0.1", "0.2")
editions.CURRENT = "0.2"
"""
"""A plugin that adds an edition to the suite before its options are declared."""

RIGHT = miniature.SCENARIO
IN_0_2 = RIGHT.replace("provider:", 'since: "0.2"\nprovider:', 1)
WRONG = """\
import json


class conformance_adapter:
    name, version, providers, capabilities = "mypkg", "1.0", {"deepseek"}, set()

    def parse(self, http, call):
        return {"message": "other", "model": json.loads(http.body)["model"]}
"""


WRONG_MESSAGE = ("--adapter=in_editions.py", "--conformance-rule=MSG-2", "--conformance-method=parse")


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the suite after each test: see `add_an_edition`."""
    monkeypatch.setattr(editions, "EDITIONS", editions.EDITIONS)
    monkeypatch.setattr(settings, "rules_in", rules_in)
    monkeypatch.setattr(generated_items, "THEMES", THEMES)


def add_an_edition(rule: str = "", theme: bool = False) -> None:
    """Add edition 0.2 to the suite of this process, with a new rule or with new themes."""

    def with_a_new_rule(path: Path) -> Iterator[tuple[str, Rule]]:
        for name, each in rules_in(path):
            yield name, replace(each, since="0.2") if each.id == rule else each

    editions.EDITIONS = ("0.1", "0.2")  # type: ignore[assignment]
    vars(settings)["rules_in"] = with_a_new_rule
    if theme:
        vars(generated_items)["THEMES"] = tuple(replace(each, since="0.2") for each in THEMES)


def run(
    pytester: pytest.Pytester, *arguments: str, scenario: str = RIGHT, rule: str = "", theme: bool = False
) -> tuple[pytest.RunResult, dict[str, Any]]:
    """Run the miniature suite of edition 0.2 on an adapter that returns a wrong message."""
    add_an_edition(rule, theme)
    pytester.makepyfile(in_editions=WRONG)
    miniature.write(pytester.path / "more", scenario=scenario)
    return miniature.run(pytester, *WRONG_MESSAGE, *arguments)


def test_a_newer_rule_that_fails_is_new_and_does_not_fail_the_run(pytester: pytest.Pytester) -> None:
    result, report = run(pytester, "--conformance-edition=0.1", "--conformance-examples=0", rule="MSG-2")

    assert report["summary"] == {"new": 1}
    assert report["edition"] == "0.1"
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "*llm-conformance *, edition 0.1 *",
            "1 new failure, not counted: the run is pinned to edition 0.1",
            "  mypkg: MSG-2 in mini/spider",
        ]
    )


def test_a_newer_scenario_that_fails_is_new(pytester: pytest.Pytester) -> None:
    result, report = run(pytester, "--conformance-edition=0.1", "--conformance-examples=0", scenario=IN_0_2)

    assert (report["summary"], result.ret) == ({"new": 1}, 0)


@pytest.mark.parametrize(("scenario", "rule"), [(RIGHT, ""), (RIGHT, "MSG-2"), (IN_0_2, "")])
def test_everything_counts_in_the_newest_edition(pytester: pytest.Pytester, scenario: str, rule: str) -> None:
    options = ("--conformance-edition=0.2", "--conformance-examples=0")
    result, report = run(pytester, *options, scenario=scenario, rule=rule)

    assert (report["summary"], report["edition"], result.ret) == ({"fail": 1}, "0.2", 1)


def test_a_run_without_a_pin_is_of_the_newest_edition(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(later=NEXT)
    result, report = run(pytester, "-p", "later", "--conformance-examples=0", scenario=IN_0_2)

    assert (report["summary"], report["edition"], result.ret) == ({"fail": 1}, "0.2", 1)


def test_a_rule_that_is_not_newer_fails_in_a_pinned_run(pytester: pytest.Pytester) -> None:
    result, report = run(pytester, "--conformance-edition=0.1", "--conformance-examples=0", rule="MSG-1")

    assert (report["summary"], result.ret) == ({"fail": 1}, 1)


@pytest.mark.parametrize(("pin", "status"), [("0.1", "new"), ("0.2", "fail")])
def test_newer_themes_of_generated_inputs(pytester: pytest.Pytester, pin: str, status: str) -> None:
    options = ("--conformance-examples=3", f"--conformance-edition={pin}", "--conformance-scenario=*generated-*usage")
    _, report = run(pytester, *options, theme=True)

    assert {each["status"] for each in report["results"] if "generated-" in each["scenario"]} == {status}


def test_a_passing_cell_of_a_newer_rule_passes(pytester: pytest.Pytester) -> None:
    add_an_edition(rule="SHP-1")
    options = ("--adapter=adapters", "--conformance-rule=SHP-1", "--conformance-examples=0")
    result, report = miniature.run(pytester, *options, "--conformance-edition=0.1")

    assert set(report["summary"]) == {"pass"}
    assert result.ret == 0


def test_a_deviation_of_a_newer_rule_is_used_and_not_stale(pytester: pytest.Pytester) -> None:
    written = ("--conformance-write-deviations=known.toml", "--conformance-edition=0.2", "--conformance-examples=0")
    run(pytester, *written, rule="MSG-2")
    gated.fill_in(pytester.path / "known.toml")
    options = ("--conformance-deviations=known.toml", "--conformance-edition=0.1", "--conformance-examples=0")
    result, report = miniature.run(pytester, *WRONG_MESSAGE, *options)

    assert (report["summary"], result.ret) == ({"expected": 1}, 0)


def test_an_unknown_edition_is_refused_with_a_list(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(in_editions=WRONG)
    result, _ = miniature.run(pytester, "--adapter=in_editions.py", "--conformance-edition=7.5")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = "*--conformance-edition=7.5: no such edition; this version of the suite has 0.1*"
    result.stderr.fnmatch_lines([text])


@pytest.mark.parametrize(
    ("since", "problem"),
    [
        ('"0.7"', "spider.scenario.yaml:2: since: no such edition; use one of 0.1"),
        ("0.1", "spider.scenario.yaml:2: since: must be a string, and is 0.1"),
    ],
)
def test_the_lint_refuses_an_edition_that_there_is_not(pytester: pytest.Pytester, since: str, problem: str) -> None:
    miniature.write(pytester.path, scenario=RIGHT.replace("provider:", f"since: {since}\nprovider:", 1))

    assert miniature.problems(pytester.path) == [problem]


@pytest.mark.parametrize(
    ("since", "edition", "newer"),
    [("0.1", "0.1", False), ("0.2", "0.1", True), ("0.1", "0.2", False), ("0.10", "0.9", True), ("1.0", "0.10", True)],
)
def test_editions_are_compared_as_numbers(since: str, edition: str, newer: bool) -> None:
    assert editions.is_newer(since, edition) is newer


def test_every_edition_is_listed_and_the_last_is_that_of_the_package() -> None:
    stated = {entry.rule.since for entry in catalogue().values()} | {theme.since for theme in THEMES}
    for path in load.find(CASSETTES)[0]:
        stated |= set(re.findall(r'^since: "(.+)"$', path.read_text("utf-8"), re.MULTILINE))

    assert stated <= set(editions.EDITIONS)
    assert ".".join(__version__.split(".")[:2]) == editions.CURRENT
    assert list(editions.EDITIONS) == sorted(editions.EDITIONS, key=lambda each: tuple(map(int, each.split("."))))


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({Status.NEW: 1}, 0),
        ({Status.NEW: 1, Status.BLOCKED: 5}, 0),
        ({Status.PASS: 3, Status.BLOCKED: 5}, 1),
        ({Status.PASS: 3, Status.PROBE_FAILED: 1, Status.BLOCKED: 5}, 0),
        ({Status.PASS: 3, Status.EXPECTED: 1, Status.BLOCKED: 5}, 0),
        ({Status.NEW: 1, Status.FAIL: 1}, 1),
        ({Status.VACUOUS: 1}, 5),
    ],
)
def test_the_exit_code_of_a_run(counts: dict[str, int], code: int) -> None:
    assert exit_code(counts) == code
