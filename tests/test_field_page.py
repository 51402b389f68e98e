"""The pages of the field: one entry for one fault, real traffic first, and nothing counted that is no fault."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter.declarations import CAPABILITIES
from llm_conformance.adapter.libraries import libraries
from llm_conformance.reports.document import Document
from llm_conformance.toml_files import read as read_toml
from peers import changes, page
from peers.environments import ROOT
from peers.faults import Judged, NotAsked, Standing, apis, faults, not_asked, standing
from peers.outcome import Outcome
from tests.test_reports import document, result


def known(reason: str, **more: Any) -> Document:
    fields = {"path": "d.toml", "line": 1, "rule": "MSG-2", "scenario": "*", "status": "expected", "decides": True}
    said = {"link": "https://example.com/1", "judgement": "fault", "argument": None, "reproduction": None}
    return {**fields, "reason": reason, **said, **more}


def expected(scenario: str, deviation: int = 0, **more: Any) -> Document:
    return result(scenario, "expected", deviation=deviation, **more)


RECORDING = "langchain-openai/tests/cassettes/a"


def facts(judged: Judged) -> dict[str, Any]:
    """Return what is known of a library after a run, as docs/field.json has it."""
    outcome = Outcome(libraries()[judged.name], Path("log"), judged.reports)  # type: ignore[arg-type]
    found: dict[str, Any] = json.loads(json.dumps(changes.facts([outcome], {})))
    return found


def text_of(judged: Judged) -> str:
    return page.pages(facts(judged))[judged.name]


def row_of(judged: Judged) -> str:
    (row,) = (line for line in page.pages(facts(judged))["index"].splitlines() if line.startswith(f"| [{judged.name} "))
    return row


def library(name: str = "groq", **more: Any) -> Judged:
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


def test_a_fault_that_shows_only_beside_another_is_a_finding_too() -> None:
    shared = expected("openai/two", 0, further_deviations=[1, 2])
    report = document(shared, expected("openai/three", 1), deviations=[known("a"), known("b"), known("c")])
    seen = {each.reason: each.written for each in faults(Judged("groq", report, None))}
    two, three = ("openai/two", "json"), ("openai/three", "json")
    assert seen == {"a": {two}, "b": {three}, "c": {two}}


def test_an_entry_may_say_its_harm() -> None:
    first, *_ = faults(
        Judged("groq", document(expected("openai/two", rule="USE-1"), deviations=[known("a", harm="late")]), None)
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
    assert standing(written, "cohere:chat") == Standing()
    assert not standing(None).has_report


def test_a_failure_that_nobody_has_judged_is_neither_a_fault_nor_right() -> None:
    report = document(result(), result("openai/two", "fail"), result("openai/six", "unsupported"))
    judged = Judged("groq", report, None)
    assert standing(report) == Standing(judged=2, right=1, undecided=1)
    assert faults(judged) == []
    assert row_of(judged).endswith("| 0 | 0 | 0 | not judged |  | 1 of 1 |")
    assert "0 faults, 1 finding that nobody has judged yet, which count as nothing." in text_of(judged)


def test_probes_count_as_nothing() -> None:
    assert standing(document(result("openai/two", "probe-failed"))) == Standing()


def test_core_faults_are_counted_apart() -> None:
    report = document(result("openai/core-chat-json-html"), result("openai/two"))
    assert standing(report, "openai:chat", "/core-") == Standing(judged=1, right=1)


def test_the_page_says_where_a_fault_is_written_down_and_how_to_see_it() -> None:
    assert row_of(library()).startswith("| [groq 1.0](groq.md) | 2 | 1 | 0 | 0 of 1 | fault 1, in 1 |")
    text = text_of(library())
    harm = "Token counts are wrong (wrong count)"
    assert f"1. **Text is trimmed.** {harm}; [USE-1](../rules/USE-1.md), [USE-2](../rules/USE-2.md)." in text
    assert f"Real traffic: 1 conversation, such as `{RECORDING}`, plain. Written: 2 conversations" in text
    shown = (
        "Not filed yet: [draft of the report](repo:peers/groq/reports/trimmed.md). "
        "[Program that shows it](repo:peers/groq/reports/trimmed.py)."
    )
    assert shown in text
    assert "[Where that is said](https://example.com/1)." in text
    assert (
        "## By design\n\n1. **Counts are 0.** Token counts are wrong (wrong count); [USE-4](../rules/USE-4.md)." in text
    )
    assert "The argument for it: A count is an int." in text


def test_a_library_that_was_not_judged_keeps_what_is_known_of_it() -> None:
    known_before = facts(library())
    outcome = Outcome(libraries()["groq"], Path("log"), broken=("could not be installed",))
    for before, said in ((known_before, "Judged on "), ({}, "# groq ")):
        text = page.pages(changes.facts([outcome], before))["groq"]
        assert "In the last run: could not be installed." in text
        assert said in text
        assert ("Text is trimmed." in text) is bool(before)


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("closed by </think>", r"Closed by \</think\>."),
        ("`a_b` and a_b", r"`a_b` and a\_b."),
        ("two\nlines.", "Two lines."),
    ],
)
def test_a_reason_is_a_sentence_without_markup_of_its_own(reason: str, sentence: str) -> None:
    judged = Judged("groq", document(expected("openai/two"), deviations=[known(reason)]), None)
    assert f"1. **{sentence}**" in text_of(judged)


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
    judged = Judged("groq", document(result()), real)
    assert row_of(judged).endswith("| 2 of 5 | fault 2, in 3 | 1 of 1 |")
    assert "2. **B.** An id, a model, a time or the provider's own word is lost (untraceable)" in text_of(judged)
    right = Judged("groq", document(result()), document(result(RECORDING)))
    assert row_of(right).endswith("| 1 of 1 |  | 1 of 1 |")


def test_the_page_links_the_files_of_scenarios() -> None:
    faulty = "anthropic/core-messages-stream-reset"
    written = document(expected("openai/refusal", 0), expected(faulty, 1), deviations=[known("a"), known("b")])
    text = text_of(Judged("groq", written, None))
    assert "[`openai/refusal`](repo:cassettes/openai/refusal.scenario.yaml), plain." in text
    (path,) = re.findall(rf"\[`{faulty}`\]\(repo:([^)]+)\)", text)
    assert "core_faults: true" in (ROOT / path).read_text("utf-8")


def test_a_section_says_how_to_install_what_was_judged() -> None:
    assert f"```sh\npip install groq=={libraries()['groq'].release}\n```" in text_of(library())


NO_PARAMETER = "the adapter cannot make this call: NotImplementedError: no documents"
NO_EARLIER_ANSWER = f"the adapter has no earlier answer to send back: {NO_PARAMETER}"


def test_what_was_not_asked_is_shown_with_the_reasons_and_who_cannot_ask() -> None:
    missed = {"adapter": "mypkg", "provider": "openai", "api": "chat", "method": "complete"}
    written = document(result(), not_asked=[{**missed, "cause": "KeyError", "conversations": 3}])
    real = document(result(RECORDING))
    reasons = {NO_PARAMETER: 4, NO_EARLIER_ANSWER: 2, "`tools` is not declared, and the call needs it: raised E": 1}
    real["bare_recordings"]["cannot_be_asked"] = {"mypkg": {**reasons, "the request was not recorded": 5}}
    judged = Judged("groq", written, real)
    by_library = {"no documents": 6, "KeyError": 3, "`tools` is not declared, and the call needs it: raised E": 1}
    assert not_asked(judged) == NotAsked(by_library, {"the request was not recorded": 5})
    text = text_of(judged)
    assert "10 conversations that the library or its shim has no way to ask:\n\n* 6: no documents\n" in text
    assert "5 conversations that the suite does not ask:\n\n* 5: the request was not recorded\n" in text


def test_what_the_library_does_not_promise_is_said() -> None:
    report = document(result(), capabilities=set(CAPABILITIES) - {"incomplete_streams", "raw"})
    report["excluded_inputs"] = [{"way": "think tags", "reason": "the server splits them: https://x.test"}]
    text = text_of(Judged("groq", report, None))
    assert "not promise these [capabilities](../adapters.md#capabilities): `incomplete_streams`.\n" in text
    assert "Left out are answers with think tags: the server splits them: https://x.test\n" in text

    report = document(result(), capabilities=CAPABILITIES)
    assert "Not judged" not in text_of(Judged("groq", report, None))


def test_rare_reasons_are_joined() -> None:
    real = document(result(RECORDING))
    real["bare_recordings"]["cannot_be_asked"] = {"mypkg": {f"reason {number}": 10 - number for number in range(8)}}
    text = text_of(Judged("groq", document(result()), real))
    assert "* 5: reason 5\n* 7: for other reasons\n" in text


def test_an_api_of_which_nothing_was_asked_has_a_row() -> None:
    report = document(result())
    report["adapters"][0]["providers"] = ["openai:chat", "openai:responses"]
    judged = Judged("groq", report, None)
    assert apis(judged) == ["openai:chat", "openai:responses"]
    assert "| openai:responses | not judged | not asked | not asked |" in text_of(judged)


PUBLISHED = changes.read()


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_is_published_is_what_the_deviations_say(name: str) -> None:
    """Judge the library again (`python -m peers`) if this fails: docs/field.json is older than its known deviations."""
    entries: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in read_toml(libraries()[name].deviations)[0].get("deviation", []):
        entries[" ".join(entry["reason"].split())].append(entry)
    for finding in PUBLISHED[name]["findings"]:
        said = [
            {
                "judgement": entry.get("judgement", "fault"),
                "link": entry.get("link") or entry.get("report"),
                "argument": entry.get("argument"),
                "reproduction": entry.get("reproduction"),
            }
            for entry in entries[" ".join(finding["what"].split())]
        ]
        assert {key: finding[key] for key in said[0]} in said if said else not finding["judgement"], finding["what"]
    published = {" ".join(each["what"].split()) for each in PUBLISHED[name]["findings"]}
    missing = {reason for reason, found in entries.items() if any(map(_of_conversations, found))} - published
    assert missing == set()


def _of_conversations(entry: dict[str, Any]) -> bool:
    """Return False if the last pass may have missed an entry: one that fails only sometimes, or in generated inputs."""
    if entry.get("sometimes"):
        return False
    globs = entry["scenario"] if isinstance(entry["scenario"], list) else [entry["scenario"]]
    return any("generated" not in glob for glob in globs)


def test_every_library_is_published() -> None:
    assert set(PUBLISHED) == set(libraries())
