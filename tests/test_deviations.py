"""Files of known deviations: all mistakes are reported at once, and an entry names exactly the cells that it should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging import deviations, deviations_file
from llm_conformance.judging.deviations import Deviation, Deviations
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict
from llm_conformance.yaml_files import BadFileError

RULES = {"MSG-1", "MSG-2", "STR-4"}
SCENARIOS = {"openai/one", "openai/two", "cohere/one", "openai/generated-chat-answers"}
REST = 'reason = "because"\nlink = "https://example.com/1"\n'


def load(tmp_path: Path, *entries: str) -> tuple[Deviation, ...]:
    path = tmp_path / "known.toml"
    path.write_text("".join(f"[[deviation]]\n{entry}{REST}\n" for entry in entries), "utf-8")
    return deviations_file.load(path, RULES, SCENARIOS)


def refusal(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "known.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadFileError) as refused:
        deviations_file.load(path, RULES, SCENARIOS)
    return [str(problem).partition("known.toml:")[2] for problem in refused.value.problems]


def entry(rule: str = "MSG-2", scenario: str = "openai/one", **more: str) -> str:
    fields = {"rule": rule, "scenario": scenario, **more}
    return "".join(f'{name} = "{value}"\n' for name, value in fields.items())


def verdict(scenario: str = "openai/one", status: str = "fail", **more: str) -> Verdict:
    fields: dict[str, Any] = {
        "adapter": "mypkg",
        "rule": "MSG-2",
        "provider": "openai",
        "api": "chat",
        "mode": "json",
        "method": "parse",
        "provenance": "generated" if "generated" in scenario else "synthetic",
    }
    return Verdict(scenario=scenario, status=status, message="wrong", **{**fields, **more})


def adapter(version: str | None = "1.0") -> AdapterUnderTest:
    nothing: frozenset[str] = frozenset()
    return AdapterUnderTest("mypkg.py", "mypkg", "mypkg", None, version, nothing, nothing, frozenset({"parse"}))


def in_force(*listed: Deviation, version: str | None = "1.0", is_certain: bool = False) -> Deviations:
    return deviations.for_run(listed, [adapter(version)], {"STR-4"}, is_certain)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("[[deviation]]\nrule = ", ["2: not valid TOML: Invalid value (at end of document)"]),
        ("[[deviations]]\n", ["1: deviations: no such key; did you mean deviation?"]),
        (
            '\n[[deviation]]\nrule = "MSG-2"\nscenario = "openai/one"\nreason = " "\nlink = "#7"\n',
            [
                "5: reason: is empty; say why the adapter deviates",
                "6: link: must be the URL (https://...) of an issue or a page about the deviation",
            ],
        ),
        (
            f"[[deviation]]\n{entry('MSG-9', 'openai/three')}{REST}",
            [
                "1: MSG-9: no such rule; `llm-conformance list` shows all rules",
                "1: openai/three: no scenario has such an id; see `llm-conformance list scenarios`",
            ],
        ),
        (
            f"[[deviation]]\n{entry(versions='2.x')}{REST}",
            ["1: versions: '2.x' is not a version specifier; write one like '<2.1' or '>=1.4,<1.6'"],
        ),
        (
            f"[[deviation]]\n{entry(scenario='openai/*')}{REST}[[deviation]]\n{entry(mode='json')}{REST}",
            ["6: openai/one: redundant, the entry in line 1 covers it; remove this one"],
        ),
        (
            f"[[deviation]]\n{entry(mode='json')}{REST}[[deviation]]\n{entry(scenario='openai/*')}{REST}",
            ["7: openai/*: also covers the entry in line 1; keep one"],
        ),
        (
            f"[[deviation]]\n{entry(mode='json', method='stream')}{REST}",
            ["1: method: stream is not a method of the mode json"],
        ),
        ("[deviation]\n", ["1: deviation: write [[deviation]], in double brackets, above each entry"]),
        (
            f"[[deviation]]\n{entry()}{REST}[[deviation]]\n{entry()}{REST}",
            ["6: openai/one: redundant, the entry in line 1 covers it; remove this one"],
        ),
        (
            f"[[deviation]]\n{entry()}{REST}[[deviation]]\n{entry(scenario='openai/on[e]')}{REST}",
            ["6: openai/on[e]: redundant, the entry in line 1 covers it; remove this one"],
        ),
    ],
)
def test_all_problems_of_a_file_are_reported(tmp_path: Path, text: str, problems: list[str]) -> None:
    assert refusal(tmp_path, text) == problems


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=r"none\.toml:1: cannot be read: No such file"):
        deviations_file.load(tmp_path / "none.toml", RULES, SCENARIOS)


def test_each_glob_of_a_list_is_a_deviation(tmp_path: Path) -> None:
    listed = load(tmp_path, 'rule = "MSG-2"\nscenario = ["openai/one", "cohere/*"]\n')
    assert [each.scenario for each in listed] == ["openai/one", "cohere/*"]
    known = in_force(*listed)
    assert list(known.stale({0})) == [1]


@pytest.mark.parametrize(
    ("restriction", "named"),
    [
        ({}, True),
        ({"mode": "json"}, True),
        ({"mode": "stream"}, False),
        ({"method": "complete"}, False),
        ({"adapter": "mypkg"}, True),
        ({"adapter": "other"}, False),
        ({"versions": "<1.1"}, True),
        ({"versions": "<1.0"}, False),
    ],
)
def test_a_restricted_deviation_names_only_matching_cells(
    tmp_path: Path, restriction: dict[str, str], named: bool
) -> None:
    known = in_force(*load(tmp_path, entry(**restriction)))
    assert (known.apply(verdict()).status == "expected") is named


def test_only_failures_of_the_rule_and_scenario_are_expected(tmp_path: Path) -> None:
    known = in_force(*load(tmp_path, entry(scenario="openai/*")))
    assert known.apply(verdict()).status == "expected"
    assert known.apply(verdict(rule="MSG-1")).status == "fail"
    assert known.apply(verdict("cohere/one")).status == "fail"
    for status in ("pass", "vacuous", "unsupported", "error"):
        assert known.apply(verdict(status=status)).status == status


def test_a_glob_names_generated_scenarios_only_if_it_contains_generated(tmp_path: Path) -> None:
    everything, generated = load(tmp_path, entry(scenario="openai/*"), entry(scenario="openai/generated-*"))
    drawn = verdict("openai/generated-chat-answers")
    assert in_force(everything).apply(drawn).status == "fail"
    assert in_force(generated).apply(drawn).status == "expected"


def test_a_deviation_of_a_random_search_is_not_stale(tmp_path: Path) -> None:
    listed = load(tmp_path, entry(), entry(scenario="openai/generated-*"), entry("STR-4"))
    assert list(in_force(*listed).stale(())) == [0]
    assert list(in_force(*listed, is_certain=True).stale(())) == [0, 1, 2]


@pytest.mark.parametrize("version", [None, "nightly"])
def test_a_version_that_cannot_be_compared_is_a_problem(tmp_path: Path, version: str | None) -> None:
    listed = load(tmp_path, entry(versions="<2"))
    with pytest.raises(BadFileError, match="cannot be compared with '<2'; leave `versions` out"):
        in_force(*listed, version=version)


def test_an_entry_that_names_only_a_probe_is_not_stale(tmp_path: Path) -> None:
    known = in_force(*load(tmp_path, entry()), is_certain=True)
    tally = Tally(keeps=False)
    tally.add([known.apply(verdict(status="probe-failed"))])
    assert list(known.stale(tally.borne_out)) == [0]
    assert list(known.stale(tally.borne_out | tally.of_probes)) == []
