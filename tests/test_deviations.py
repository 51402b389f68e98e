"""Known deviations: an entry names exactly the cells that it should, and is stale if nothing fails there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import locations
from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging import deviations, deviations_file
from llm_conformance.judging.deviations import Deviation, Deviations
from llm_conformance.judging.effort import Effort
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


def entry(rule: str | list[str] = "MSG-2", scenario: str | list[str] = "openai/one", **more: str | list[str]) -> str:
    fields = {"rule": rule, "scenario": scenario, **more}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


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
    return Verdict(scenario=scenario, status=status, **{"message": "wrong", **fields, **more})


def adapter(version: str | None = "1.0") -> AdapterUnderTest:
    nothing: frozenset[str] = frozenset()
    return AdapterUnderTest("mypkg.py", "mypkg", "mypkg", None, version, nothing, nothing, frozenset({"parse"}))


def in_force(*listed: Deviation, version: str | None = "1.0", is_certain: bool = False) -> Deviations:
    return deviations.for_run(listed, [adapter(version)], {"STR-4"}, Effort.named("ci" if is_certain else "100"))


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


CAUSE = {"message": "expected an answer; got 'x' in line 7", "cause": "KeyError in mypkg/decode.py:31 decode"}


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("KeyError", True),
        ("an answer; got 'x'", True),
        ("KeyError in …decode.py", True),
        ("expected …; got … line 7", True),
        ("ValueError", False),
        ("got … an answer", False),
        (["ValueError", "KeyError"], True),
    ],
)
def test_a_message_names_only_failures_of_which_it_is_a_part(
    tmp_path: Path, message: str | list[str], named: bool
) -> None:
    known = in_force(*load(tmp_path, entry(message=message)))
    assert (known.apply(verdict(**CAUSE)).status == "expected") is named


def test_two_entries_with_different_messages_name_one_cell(tmp_path: Path) -> None:
    known = in_force(*load(tmp_path, entry(message="KeyError"), entry(message="ValueError")))
    found = known.apply(verdict(message="ValueError: 7"))
    assert (found.status, found.deviation) == ("expected", 1)
    passed = known.apply(verdict(status="pass"))
    assert (passed.deviation, list(passed.further_deviations)) == (0, [1])


def test_each_rule_glob_and_message_of_an_entry_must_name_a_failure_but_not_each_with_each(tmp_path: Path) -> None:
    lists = {"rule": ["MSG-1", "MSG-2"], "scenario": ["openai/one", "openai/two"]}
    known = in_force(*load(tmp_path, entry(**lists)))
    one_one, two_two, two_one = 0, 3, 2
    assert list(known.stale({one_one, two_two})) == []
    assert list(known.stale({two_one})) == [0, 1, 3]
    path = tmp_path / "known.toml"
    assert list(known.stale_entries({0, 1, 3})) == [
        f"{path}:1: no cell fails; remove MSG-1 from `rule` and openai/two from `scenario`"
    ]
    assert list(known.stale_entries({0, 1, 2, 3})) == [
        f"{path}:1: no cell fails; remove the entry (MSG-1 in openai/one)"
    ]


def test_no_user_is_told_to_change_the_files_of_an_installed_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = in_force(*load(tmp_path, entry()))
    monkeypatch.setattr(locations, "LIBRARIES", tmp_path)
    assert list(known.stale_entries({0})) != []
    monkeypatch.setattr(locations, "PACKAGED", True)
    assert list(known.stale_entries({0})) == []


def test_a_deviation_that_nobody_has_reported_names_a_text_and_a_program(tmp_path: Path) -> None:
    for name in ("report.md", "show.py"):
        (tmp_path / name).write_text("", "utf-8")
    path = tmp_path / "known.toml"
    rest = 'reason = "b"\nreport = "report.md"\nreproduction = "show.py"\njudgement = "by design"\nargument = "c"\n'
    rest += 'harm = "late"\n'
    path.write_text(f"[[deviation]]\n{entry()}{rest}", "utf-8")
    (known,) = in_force(*deviations_file.load(path, RULES, SCENARIOS)).to_dicts()
    assert known["link"] == "report.md"
    assert (known["judgement"], known["argument"], known["reproduction"]) == ("by design", "c", "show.py")
    assert known["harm"] == "late"


def test_a_message_of_a_list_that_no_failure_has_is_stale(tmp_path: Path) -> None:
    known = in_force(*load(tmp_path, entry(message=["KeyError", "ValueError"])))
    assert list(known.stale({0})) == [1]
    assert list(known.stale_entries({1})) == [
        f"{tmp_path / 'known.toml'}:1: no cell fails; remove ValueError from `message`"
    ]


def test_entries_that_name_nothing_in_the_run_are_counted_with_the_reason(tmp_path: Path) -> None:
    other = entry(scenario="openai/two", adapter="other")
    known = in_force(*load(tmp_path, entry(), other, entry("MSG-1"), entry("STR-4")))
    assert list(known.unused({0, 1, 2, 3}, ())) == []
    assert list(known.unused({0}, {2})) == [
        "deviations not used in this run: 3 of 4 entries: 1 for other adapters or versions, "
        "1 of cells that could not be judged, 1 of cells outside this run, or of inputs that it does not draw"
    ]


def test_unused_entries_of_an_installed_suite_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = in_force(*load(tmp_path, entry(), entry("MSG-1")))
    monkeypatch.setattr("llm_conformance.judging.deviations.is_library_file", lambda _path: True)
    assert list(known.unused({0}, ())) == []


def test_an_entry_of_a_cell_that_is_blocked_is_not_stale(tmp_path: Path) -> None:
    known = in_force(*load(tmp_path, entry(message="a"), entry(message="b")))
    tally = Tally(keeps=False)
    tally.add([known.apply(verdict(status="blocked"))])
    assert list(known.stale(tally.borne_out | tally.undecided)) == []


def test_an_entry_of_what_fails_in_some_runs_only_is_never_stale_and_says_so(tmp_path: Path) -> None:
    listed = load(tmp_path, f"sometimes = true\n{entry()}", entry("MSG-1"))
    known = in_force(*listed, is_certain=True)
    assert list(known.stale(())) == [1]
    assert [each["sometimes"] for each in known.to_dicts()] == [True, False]
    seen = known.apply(verdict())
    assert seen.status == "expected"
    assert known.reason(seen).startswith("known, seen in some runs: ")
    (line,) = known.unused({1}, ())
    assert line.endswith("1 of 2 entries: 1 seen in some runs, and not in this one")


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
    assert list(known.stale(tally.borne_out | tally.undecided)) == []


@pytest.mark.parametrize(
    ("written_with", "stale_with"),
    [("quick", {"quick", "ci"}), ("ci", {"ci"}), (None, {"ci"}), ("deep", set()), ("100", set())],
)
def test_an_entry_of_generated_inputs_is_stale_only_if_all_was_drawn_that_found_it(
    written_with: str | None, stale_with: set[str], tmp_path: Path
) -> None:
    head = "" if written_with is None else f'examples = "{written_with}"\n'
    path = tmp_path / "known.toml"
    path.write_text(f"{head}[[deviation]]\n{entry(scenario='openai/generated-chat-answers')}{REST}", "utf-8")
    listed = deviations_file.load(path, RULES, SCENARIOS)
    found = set()
    for name in ("0", "quick", "ci", "100", "deep"):
        if list(deviations.for_run(listed, [adapter("1.0")], (), Effort.named(name)).stale(())):
            found.add(name)
    assert found == stale_with


def test_recordings_that_a_run_does_not_have_are_neither_unknown_nor_stale(tmp_path: Path) -> None:
    """A file may have entries of the suite's scenarios and of the public corpus. Many runs judge by the first only."""
    one, some = "langchain-openai/tests/a", "langchain-openai/tests/*"
    entries = entry(scenario=["openai/one", one]), entry("MSG-1", scenario=one), entry("STR-4", scenario=some)
    with pytest.raises(BadFileError, match="langchain-openai/tests/a: no such scenario"):
        load(tmp_path, *entries)
    listed = deviations_file.load(tmp_path / "known.toml", RULES, SCENARIOS, {"langchain-openai"})
    elsewhere = deviations.for_run(listed, [adapter()], (), Effort.named("ci"), {"langchain-openai"})
    assert [listed[at].scenario for at in elsewhere.stale(())] == ["openai/one"]
    assert len(list(in_force(*listed, is_certain=True).stale(()))) == 4


@pytest.mark.parametrize(
    ("pattern", "about_it"), [("package/*", True), ("*/*/*", True), ("*/*", False), ("other/a/b", False), ("p*", False)]
)
def test_a_glob_of_recordings_begins_with_a_package_or_has_two_slashes(pattern: str, about_it: bool) -> None:
    assert deviations.is_recording_of(pattern, {"package"}) is about_it
