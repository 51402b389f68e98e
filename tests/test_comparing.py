"""Comparing the reports of two runs: findings that are new or gone, and cells that got better or worse."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.calling.without_values import without_values
from llm_conformance.cli import main
from llm_conformance.reports import comparing
from tests.test_reports import ONE, WHOLE, Document, document, put, result


@pytest.mark.parametrize(
    ("before", "after", "worse", "better"),
    [
        ("pass", "fail", 1, 0),
        ("fail", "pass", 0, 1),
        ("pass", "expected", 1, 0),
        ("expected", "pass", 0, 1),
        ("fail", "expected", 0, 0),
        ("pass", "unsupported", 1, 0),
        ("unsupported", "fail", 1, 0),
        ("unsupported", "pass", 0, 1),
        ("vacuous", "unsupported", 0, 0),
        ("pass", "pass", 0, 0),
        ("pass", "blocked", 0, 0),
        ("blocked", "fail", 0, 0),
        ("pass", "new", 0, 0),
    ],
)
def test_what_got_better_and_what_got_worse(before: str, after: str, worse: int, better: int) -> None:
    changes = list(comparing.compare(*(document(result(), result("openai/two", each)) for each in (before, after))))
    assert (sum(each.is_worse for each in changes), sum(each.is_better for each in changes)) == (worse, better)


def test_the_name_of_the_only_adapter_may_change() -> None:
    renamed = copy.deepcopy(WHOLE)
    renamed["results"][0]["adapter"] = "mypkg 2"
    assert list(comparing.compare(WHOLE, renamed)) == []


def test_the_command_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = document(result(), result("openai/two"))
    names = put(tmp_path / "a.json", good), put(tmp_path / "b.json", WHOLE)
    assert main.main(["report", "compare", *names]) == 1
    assert "1 cell got worse\n  MSG-2 openai/two parse: pass -> fail: expected" in capsys.readouterr().out
    assert main.main(["report", "compare", *reversed(names)]) == 0
    assert "1 cell got better\n  MSG-2 openai/two parse: fail -> pass\n" in capsys.readouterr().out


def test_findings_that_are_new_or_gone_come_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = document(result("openai/two", "fail", cause="a"), result("openai/one", "fail", rule="MSG-1", cause="b"))
    new = document(result("openai/two", "fail", cause="c"), result("openai/one", "fail", rule="MSG-1", cause="b"))
    assert main.main(["report", "compare", put(tmp_path / "a.json", old), put(tmp_path / "b.json", new)]) == 0
    line = "  lost: MSG-2 in 1 conversation, such as openai/two: expected `a|b`; got <i>nothing</i>\n"
    assert capsys.readouterr().out.startswith(f"1 new finding\n{line}1 finding gone\n{line}0 cells got worse\n")


def test_an_exception_from_another_line_is_no_new_finding() -> None:
    causes = ("KeyError in mypkg/decode.py:31 decode", "KeyError in mypkg/decode.py:44 decode")
    reports = [document(result("openai/two", "fail", cause=each)) for each in causes]
    assert comparing.compare_findings(reports[0], reports[1], complete=True) == ([], [])


def test_another_lost_value_is_a_new_finding_and_one_that_is_mended_is_not() -> None:
    length, both = (
        document(
            *(result(f"openai/{word}", "fail", cause=f'expected finish_reason "{word}"; got null') for word in words)
        )
        for words in (["length"], ["length", "content_filter"])
    )
    new, gone = comparing.compare_findings(length, both, complete=True)
    assert ([each.kinds for each in new], gone) == ([('"content_filter"', '"length"')], [])
    assert comparing.compare_findings(both, length, complete=True) == ([], [])


def test_a_count_that_is_still_lost_after_another_one_is_mended_is_no_new_finding() -> None:
    cached = "expected cached_tokens 7; got cached_tokens null"
    both = "expected cached_tokens 7, audio_tokens 9; got cached_tokens null, audio_tokens 18"
    before, after = (
        document(result("openai/two", "fail", message=each, cause=without_values(each))) for each in (both, cached)
    )
    new, gone = comparing.compare_findings(before, after, complete=True)
    assert (new, [each.message for each in gone]) == ([], ["expected audio_tokens 9; got audio_tokens 18"])


def test_a_count_that_is_still_wrong_after_another_one_is_mended_is_no_new_finding() -> None:
    both, one = (
        f"expected prompt_tokens 22{more}; got prompt_tokens 23{got}"
        for more, got in ((", completion_tokens 7", ", completion_tokens 8"), ("", ""))
    )
    before, after = (
        document(result("openai/two", "fail", message=each, cause=without_values(each))) for each in (both, one)
    )
    assert comparing.compare_findings(before, after, complete=True) == ([], [])
    assert [each.message for each in comparing.compare_findings(after, before, complete=True)[0]] == [both]


def test_a_lost_value_that_is_not_known_is_new_beside_a_known_one() -> None:
    def lost(word: str, status: str) -> dict[str, Any]:
        return result(f"openai/{word}", status, cause=f'expected finish_reason "{word}"; got null')

    before = document(lost("length", "expected"))
    after = document(lost("length", "expected"), lost("stop", "fail"))
    assert [each.kinds for each in comparing.compare_findings(before, after, complete=True)[0]] == [('"stop"',)]
    assert comparing.compare_findings(after, document(lost("length", "fail"), lost("stop", "fail")), True) == ([], [])


def test_either_of_two_finish_reasons_is_a_kind_of_its_own() -> None:
    either, both = (
        document(
            *(result(f"openai/{at}", "fail", cause=f"expected finish_reason {each}; got null") for at, each in some)
        )
        for some in ([(1, '"stop" or "length"')], [(1, '"stop" or "length"'), (2, '"length"')])
    )
    assert len(comparing.compare_findings(either, both, complete=True)[0]) == 1


def test_a_finding_in_a_cell_that_was_not_judged_before_is_not_new_unless_both_are_complete() -> None:
    before, after = document(result()), document(result(), result("openai/two", "fail"))
    assert comparing.compare_findings(before, after, complete=False) == ([], [])
    assert [each.rule for each in comparing.compare_findings(before, after, complete=True)[0]] == ["MSG-2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"effort": "ci"}, "generated examples per property: quick and ci (--conformance-examples)"),
        ({"effort": "25"}, "generated examples per property: quick and 25 (--conformance-examples)"),
        ({"edition": "0.2"}, "edition: 0.1 and 0.2 (--conformance-edition)"),
        ({"transport": "vcr"}, "transport: server and vcr (--conformance-transport)"),
        ({"probes": "judge"}, "probes: apart and judge (--conformance-probes)"),
    ],
)
def test_reports_of_unequal_runs_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Document, message: str
) -> None:
    names = put(tmp_path / "a.json", WHOLE), put(tmp_path / "b.json", {**WHOLE, **change})
    assert main.main(["report", "compare", *names]) == 4
    told = capsys.readouterr().err
    assert message in told
    assert "Make one of them again with the options of the other." in told


def test_a_cell_that_a_partial_run_did_not_judge_is_not_worse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = put(tmp_path / "a.json", document(result(), result("openai/two")))
    after = put(tmp_path / "b.json", {**document(result(), result("openai/two", "vacuous")), "complete": False})
    assert main.main(["report", "compare", before, after]) == 0


def test_a_cell_that_a_partial_report_lacks_is_not_worse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = document(result(), result("openai/two"))
    assert main.main(["report", "compare", put(tmp_path / "a.json", good), put(tmp_path / "b.json", ONE)]) == 0
    assert "b.json is a partial report" in capsys.readouterr().out


def test_an_input_that_only_one_run_drew_is_no_regression(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn, kept = ("openai/generated-chat-answers", "openai/generated-chat-answers-0123456789")
    cut: dict[str, Any] = {"example": {"cuts": [4], "returned": None}}

    def reports(effort: str, scenario: str, **more: Any) -> list[str]:
        found = [result(scenario), result(scenario, "fail", **more)]
        return [
            put(tmp_path / f"{number}.json", document(each, effort=effort, complete=True))
            for number, each in enumerate(found)
        ]

    generated = {"provenance": "generated"}
    assert main.main(["report", "compare", *reports("ci", drawn, **generated)]) == 1
    assert "draws other inputs" not in capsys.readouterr().out
    assert main.main(["report", "compare", *reports("100", drawn, **generated)]) == 0
    told = capsys.readouterr().out
    assert "--examples=100 draws other inputs in every run" in told
    assert f"0 cells got worse\n0 cells got better\n1 cell with other inputs in each run\n  MSG-2 {drawn} parse" in told
    assert main.main(["report", "compare", *reports("100", kept, **generated)]) == 1
    assert main.main(["report", "compare", *reports("deep", "openai/one", **cut)]) == 0
    assert main.main(["report", "compare", *reports("deep", "openai/one")]) == 1
