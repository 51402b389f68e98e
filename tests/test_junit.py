"""The JUnit file of a run: names with rule ids, messages of one line, no paths of the suite."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pytest

from llm_conformance.judging.cell_judge import JudgedRule
from llm_conformance.locations import CASSETTES
from llm_conformance.pytest_plugin.items import ExchangeItem
from tests import inline, miniature

WRONG = """\
class conformance_adapter:
    name, version, providers = "mypkg", "1.0", {"deepseek"}

    def parse(self, http, call):
        raise ValueError("two\\nlines")
"""


@pytest.mark.parametrize("processes", inline.WORKERS)
def test_test_cases_have_readable_names(pytester: pytest.Pytester, processes: tuple[str, ...]) -> None:
    pytester.makepyfile(wrong=WRONG)
    options = ["--adapter=wrong", "--conformance-examples=1", "--conformance-scenario=deepseek/generated-*-usage"]
    options += ["--conformance-scenario=deepseek/core-chat-json-html"]
    result, report = miniature.run(pytester, *options, "--junitxml=junit.xml", *processes)

    assert result.ret == 1
    text = (pytester.path / "junit.xml").read_text("utf-8")
    cases = {each.get("name"): each for each in ElementTree.fromstring(text).iter("testcase")}
    assert {each.get("classname") for each in cases.values()} == {"mypkg"}
    run = [each for each in report["results"] if each["status"] in ("pass", "fail", "blocked", "unsupported")]
    judged = {f"{each['rule']} {each['scenario']} parse" for each in run}
    assert set(cases) >= {"SHP-1 mini/spider parse", "deepseek/generated-chat-usage parse"}
    (suite,) = ElementTree.fromstring(text).iter("testsuite")
    counted = {"tests": len(cases), "failures": text.count("<failure"), "skipped": text.count("<skipped"), "errors": 0}
    assert {name: int(suite.get(name, "")) for name in counted} == counted
    assert {name for name in cases if name and "generated-" not in name} <= judged
    failure = cases["SHP-1 mini/spider parse"].find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith("SHP-1: ")
    assert "\n" not in failure.get("message", "")
    assert "Requirement  SHP-1" in (failure.text or "")
    assert "cassettes/deepseek/" in text
    assert str(CASSETTES) not in text
    assert "items.py" not in text
    assert "conformance test" not in text


def test_an_item_forgets_its_verdicts_when_it_is_reported(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ExchangeItem] = []
    judge = ExchangeItem.conclude

    def concluded(item: ExchangeItem, judged: Sequence[JudgedRule]) -> None:
        assert item.told
        made.append(item)
        judge(item, judged)

    monkeypatch.setattr(ExchangeItem, "conclude", concluded)
    pytester.makepyfile(wrong=WRONG)
    miniature.run(pytester, "--adapter=wrong", "--conformance-examples=0")

    assert [item.told for item in made] == [()]


def test_a_character_that_xml_cannot_have_is_told_by_its_number(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(wrong=WRONG.replace("two\\nlines", "a\\x00b"))
    miniature.run(pytester, "--adapter=wrong", "--conformance-examples=0", "--junitxml=junit.xml")

    failures = ElementTree.parse(pytester.path / "junit.xml").iter("failure")
    assert any("a#x00b" in (each.text or "") for each in failures)


@pytest.mark.parametrize("named", ["ANN-1", "test_spans_are_in_the_message"])
def test_a_rule_names_the_exchanges_that_it_judges(pytester: pytest.Pytester, named: str) -> None:
    pytester.makepyfile(wrong=WRONG)
    options = ("--adapter=wrong", "--conformance-examples=0")
    whole = miniature.run(pytester, *options, "--conformance-rule=SHP-1")[1]
    some = miniature.run(pytester, *options, "-k", named)[0]

    assert whole["summary"]["fail"] == 1
    assert some.parseoutcomes().get("deselected", 0) == 0
    other = miniature.run(pytester, *options, "--conformance-rule=SHP-1", "-k", named)[0]
    assert other.parseoutcomes() == {"deselected": 1}


@pytest.mark.usefixtures("with_cache")
def test_ids_of_tests_stay_as_they_are(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(wrong=miniature.HALF_WRONG)
    options = (
        "--adapter=wrong",
        "--conformance-examples=0",
        "--junitxml=junit.xml",
        "-o",
        f"cache_dir={pytester.path}",
    )
    first, _ = miniature.run(pytester, *options)
    again, _ = miniature.run(pytester, *options, "--lf")

    assert first.parseoutcomes()["passed"] > 0
    again.assert_outcomes(failed=first.parseoutcomes()["failed"])


def test_other_tests_keep_their_names(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(wrong=WRONG, test_mine="def test_one(): pass")
    miniature.run(pytester, "test_mine.py", "--adapter=wrong", "--conformance-examples=0", "--junitxml=junit.xml")

    cases = ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    assert [each.get("classname") for each in cases if each.get("name") == "test_one"] != ["mypkg"]
