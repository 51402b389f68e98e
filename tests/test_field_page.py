"""docs/field.md: one entry for one fault, real traffic first, and nothing counted that is no fault."""

from __future__ import annotations

import re
from typing import Any

import pytest

from llm_conformance.adapter.libraries import libraries
from llm_conformance.reports.document import Document
from peers import page
from peers.__main__ import PAGE
from peers.faults import Judged, NotAsked, Standing, apis, faults, not_asked, standing, unjudged
from tests.test_reports import document, result


def known(reason: str, **more: Any) -> Document:
    fields = {"path": "d.toml", "line": 1, "rule": "MSG-2", "scenario": "*", "status": "expected", "decides": True}
    said = {"link": "https://example.com/1", "judgement": "fault", "argument": None, "reproduction": None}
    return {**fields, "reason": reason, **said, **more}


def expected(scenario: str, deviation: int = 0, **more: Any) -> Document:
    return result(scenario, "expected", deviation=deviation, **more)


RECORDING = "langchain-openai/tests/cassettes/a"


def library(name: str = "mypkg", **more: Any) -> Judged:
    """Return a library with two faults, of which one is in real traffic, and one deviation that is by design."""
    trimmed, joined = known("text is trimmed", link="reports/trimmed.md", reproduction="reports/trimmed.py"), known("b")
    designed = known("counts are 0", judgement="by design", argument="a count is an int")
    written = document(
        result("openai/right"),
        expected("openai/two", 0, rule="USE-1"),
        expected("openai/two", 0, rule="USE-2"),
        expected("openai/three", 0, rule="USE-1", mode="stream", method="parse_stream"),
        expected("openai/four", 1),
        expected("openai/zero", 2, rule="USE-4"),
        deviations=[trimmed, joined, designed],
    )
    real = document(expected(RECORDING, 0, rule="USE-1"), deviations=[trimmed])
    return Judged(name, **{"written": written, "real": real, **more})


def test_one_entry_is_one_fault_however_many_rules_and_conversations_it_breaks() -> None:
    first, *_ = faults(library())
    assert (first.reason, first.rules, first.harm) == ("text is trimmed", ("USE-1", "USE-2"), "wrong count")
    assert first.real == {(RECORDING, "json")}
    assert first.written == {("openai/two", "json"), ("openai/three", "stream")}


def test_an_entry_may_say_its_harm() -> None:
    first, *_ = faults(
        Judged("mypkg", document(expected("openai/two", rule="USE-1"), deviations=[known("a", harm="late")]), None)
    )
    assert (first.harm, first.rules) == ("late", ("USE-1",))


def test_faults_of_real_traffic_come_first_then_the_worst_harm() -> None:
    assert [each.reason for each in faults(library())] == ["text is trimmed", "b", "counts are 0"]
    without_real = library(real=None)
    assert [each.reason for each in faults(without_real)] == ["b", "text is trimmed", "counts are 0"]


def test_a_conversation_is_right_without_a_fault_also_if_something_is_by_design() -> None:
    written = library().written
    assert standing(written) == Standing(judged=5, right=2)
    assert standing(written, "openai:chat") == Standing(judged=5, right=2)
    assert str(standing(written, "cohere:chat")) == "not asked"
    assert str(standing(None)) == "not judged"


def test_a_failure_that_nobody_has_judged_is_neither_a_fault_nor_right() -> None:
    report = document(result(), result("openai/two", "fail"), result("openai/six", "unsupported"))
    judged = Judged("mypkg", report, None)
    assert standing(report) == Standing(judged=2, right=1, undecided=1)
    assert str(standing(report)) == "1 of 1"
    assert (faults(judged), unjudged(judged)) == ([], 1)
    text = page.page([judged], {})
    assert "0 faults, 1 finding that nobody has judged yet, which count as nothing." in text


def test_probes_count_as_nothing() -> None:
    assert standing(document(result("openai/two", "probe-failed"))) == Standing()


def test_core_faults_are_counted_apart() -> None:
    report = document(result("openai/core-chat-json-html"), result("openai/two"))
    assert standing(report, "openai:chat", "/core-") == Standing(judged=1, right=1)


def test_the_page_says_where_a_fault_is_written_down_and_how_to_see_it() -> None:
    text = page.page([library()], {"other": "could not be installed"})
    assert "| [mypkg 1.0](#mypkg-10) | 2 | 1 | 1 | 0 | 0 | 0 of 1; 1 of the other 1 show " in text
    rules = "[USE-1](../conformance/test_usage.py), [USE-2](../conformance/test_usage.py)"
    assert f"1. **Text is trimmed.** Wrong count; {rules}." in text
    assert f"Real traffic: 1 conversation, such as `{RECORDING}`, plain. Written: 2 conversations" in text
    shown = (
        "Not filed yet: [draft of the report](../peers/mypkg/reports/trimmed.md). "
        "[Program that shows it](../peers/mypkg/reports/trimmed.py)."
    )
    assert shown in text
    assert "[Where that is said](https://example.com/1)." in text
    assert "**By design**\n\n1. **Counts are 0.** Wrong count; [USE-4](../conformance/test_usage.py)." in text
    assert "The argument for it: A count is an int." in text
    assert "other: could not be installed." in text


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("closed by </think>", r"Closed by \</think\>."),
        ("`a_b` and a_b", r"`a_b` and a\_b."),
        ("two\nlines.", "Two lines."),
    ],
)
def test_a_reason_is_a_sentence_without_markup_of_its_own(reason: str, sentence: str) -> None:
    judged = Judged("mypkg", document(expected("openai/two"), deviations=[known(reason)]), None)
    assert f"1. **{sentence}**" in page.page([judged], {})


def test_the_row_names_the_fault_that_most_wrong_conversations_show() -> None:
    rare, common, designed = known("a"), known("b"), known("c", judgement="by design", argument="it is")
    recordings = [f"{RECORDING}{number}" for number in range(5)]
    real = document(
        expected(recordings[0], 0, rule="MSG-2"),
        expected(recordings[0], 1, rule="PRV-4"),
        *(expected(each, 1, rule="PRV-4") for each in recordings[1:3]),
        *(expected(each, 2, rule="USE-4") for each in recordings),
        deviations=[rare, common, designed],
    )
    text = page.page([Judged("mypkg", document(result()), real)], {})
    assert "| 2 of 5; 3 of the other 3 show [fault 2](#mypkg-10) | 1 of 1 |" in text
    assert "2. **B.** Untraceable" in text
    right = page.page([Judged("mypkg", document(result()), document(result(RECORDING)))], {})
    assert "| 1 of 1 | 1 of 1 |" in right


def test_the_page_links_the_files_of_rules_and_scenarios() -> None:
    faulty = "anthropic/core-messages-stream-reset"
    written = document(expected("openai/refusal", 0), expected(faulty, 1), deviations=[known("a"), known("b")])
    text = page.page([Judged("mypkg", written, None)], {})
    assert "[`openai/refusal`](../cassettes/openai/refusal.scenario.yaml), plain." in text
    links = re.findall(r"\]\((\.\./(?:cassettes|conformance)/[^)]+)\)", text)
    assert all((PAGE.parent / link).is_file() for link in links)
    (path,) = re.findall(rf"\[`{faulty}`\]\(([^)]+)\)", text)
    assert "core_faults: true" in (PAGE.parent / path).read_text("utf-8")


def test_a_section_says_how_to_install_what_was_judged() -> None:
    (section,) = re.findall(r"Judged on .*\n\n(.*)", page.page([library(name="groq")], {}))
    assert section == f"`pip install groq=={libraries()['groq'].release}`"


NO_PARAMETER = "the adapter cannot make this call: NotImplementedError: no documents"
NO_EARLIER_ANSWER = f"the adapter has no earlier answer to send back: {NO_PARAMETER}"


def test_what_was_not_asked_is_shown_with_the_reasons_and_who_cannot_ask() -> None:
    missed = {"adapter": "mypkg", "provider": "openai", "api": "chat", "method": "complete"}
    written = document(result(), not_asked=[{**missed, "cause": "KeyError", "conversations": 3}])
    real = document(result(RECORDING))
    reasons = {NO_PARAMETER: 4, NO_EARLIER_ANSWER: 2, "`tools` is not declared, and the call needs it: raised E": 1}
    real["bare_recordings"]["cannot_be_asked"] = {"mypkg": {**reasons, "the request was not recorded": 5}}
    judged = Judged("mypkg", written, real)
    by_library = {"no documents": 6, "KeyError": 3, "`tools` is not declared, and the call needs it: raised E": 1}
    assert not_asked(judged) == NotAsked(by_library, {"the request was not recorded": 5})
    text = page.page([judged], {})
    assert "Not asked, what the library or its shim cannot ask: 10 conversations.\n\n* 6: no documents\n" in text
    assert "Not asked, what the suite does not ask: 5 conversations.\n\n* 5: the request was not recorded\n" in text


def test_an_api_of_which_nothing_was_asked_has_a_row() -> None:
    report = document(result())
    report["adapters"][0]["providers"] = ["openai:chat", "openai:responses"]
    judged = Judged("mypkg", report, None)
    assert apis(judged) == ["openai:chat", "openai:responses"]
    assert "| openai:responses | not judged | not asked | not asked |" in page.page([judged], {})


def test_the_published_page_has_sections_of_existing_folders_only() -> None:
    # Folders that are newer than the page get their section when it is made anew.
    sections = re.findall(r"^## ([a-z][a-z-]*)", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sections
    assert set(sections) <= set(libraries())
