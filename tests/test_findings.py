"""Failures are grouped by cause, and conversations are counted."""

from __future__ import annotations

from typing import Any

import pytest

from llm_conformance.calling.without_values import without_values
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict
from llm_conformance.pytest_plugin.finding_text import in_full
from llm_conformance.reports import conversations
from llm_conformance.reports.findings import Finding, findings
from llm_conformance.rules.exchange import UNMAPPED
from llm_conformance.rules.rule import HARMS
from tests import miniature


def failure(rule: str, scenario: str, message: str = "wrong", **others: Any) -> dict[str, Any]:
    """Return a result that fails."""
    provider = scenario.partition("/")[0]
    values = {"adapter": "mine", "mode": "json", "method": "parse", "status": "fail", "provenance": "synthetic"}
    values |= {"rule": rule, "scenario": scenario, "provider": provider, "api": "chat", "message": message}
    return {"cause": message, "grounds": None, **values, **others}


def only(results: list[dict[str, Any]]) -> Finding:
    (finding,) = findings(results)
    return finding


def test_failures_with_one_cause_are_one_finding() -> None:
    finding = only(
        [failure("MSG-2", f"openai/{name}") for name in "abcd"] + [failure("MSG-2", "a/a", method="complete")]
    )
    assert (finding.rule, finding.harm, finding.conversations, finding.cells) == ("MSG-2", "lost", 5, 5)
    assert (finding.apis, finding.methods) == (("a:chat", "openai:chat"), ("complete", "parse"))


def test_another_cause_is_another_finding() -> None:
    results = [failure("MSG-2", "openai/a", "one"), failure("MSG-2", "openai/b", "two")]
    assert {each.cause for each in findings(results)} == {"one", "two"}


def test_two_methods_in_one_conversation_are_one_conversation() -> None:
    finding = only([failure("MSG-2", "openai/a"), failure("MSG-2", "openai/a", method="complete")])
    assert (finding.conversations, finding.cells) == (1, 2)


def test_a_rule_that_fails_only_where_a_worse_one_fails_is_named_beside_it() -> None:
    results = [failure(rule, f"openai/{name}") for rule in ("RSN-3", "MSG-2", "MSG-1") for name in "ab"]
    finding = only(results)
    assert (finding.rule, finding.also, finding.cells) == ("MSG-1", ("MSG-2", "RSN-3"), 6)


def test_a_rule_that_fails_elsewhere_too_has_a_finding_of_its_own_with_all_its_conversations() -> None:
    results = [failure("MSG-2", "openai/a"), *(failure("USE-1", f"openai/{name}") for name in "abc")]
    lost, counted = findings(results)
    assert (lost.rule, lost.also, lost.conversations) == ("MSG-2", (), 1)
    assert (counted.rule, counted.also, counted.conversations) == ("USE-1", (), 3)


def test_segments_are_no_finding_where_what_they_repeat_is_wrong() -> None:
    results = [failure("MSG-2", "openai/a"), *(failure("RSN-3", f"openai/{name}") for name in "abc")]
    lost, segments = findings(results)
    assert (lost.rule, lost.also, lost.conversations, lost.cells) == ("MSG-2", ("RSN-3",), 1, 2)
    assert (segments.rule, segments.also, segments.conversations, segments.cells) == ("RSN-3", (), 2, 2)


def test_what_else_fails_is_shown_with_its_own_message() -> None:
    other = {"message": "expected 2 calls; got 1"}
    results = [failure("MSG-2", "openai/a"), failure("TOOL-1", "openai/a", **other), failure("STR-1", "openai/a")]
    finding = only(results)
    assert finding.also == ("STR-1", "TOOL-1")
    assert finding.also_messages == {"TOOL-1": "expected 2 calls; got 1"}
    shown = list(in_full(finding, 1, "1 of 1", (), 100))
    assert "    also TOOL-1: expected 2 calls; got 1" in shown


def test_every_failing_cell_belongs_to_one_finding() -> None:
    results = [failure("MSG-2", "openai/a"), failure("MSG-1", "openai/b")]
    results += [failure(rule, f"openai/{name}") for rule in ("STR-1", "USE-1") for name in "ab"]
    results.append(failure("USE-1", "openai/c"))
    found = findings(results)
    assert {each.rule: each.also for each in found} == {"MSG-1": ("STR-1",), "MSG-2": ("STR-1",), "USE-1": ()}
    assert sum(each.cells for each in found) == len(results)


def test_the_worst_harm_comes_first_then_the_most_frequent() -> None:
    results = [failure("USE-1", f"openai/u{number}") for number in range(5)]
    results += [failure("MSG-2", f"openai/m{number}", "rare") for number in range(1)]
    results += [failure("MSG-2", f"openai/n{number}", "frequent") for number in range(2)]
    found = findings(results)
    assert [each.cause for each in found] == ["frequent", "rare", "wrong"]
    assert [HARMS.index(each.harm) for each in found] == sorted(HARMS.index(each.harm) for each in found)


def test_known_deviations_are_findings_of_their_own_after_the_others() -> None:
    known = failure("MSG-1", "openai/a", status="expected")
    found = findings([known, failure("USE-1", "openai/a"), failure("MSG-1", "openai/b", status="blocked")])
    assert [(each.rule, each.status) for each in found] == [("USE-1", "fail"), ("MSG-1", "expected")]


def unmapped(rule: str, scenario: str, name: str, where: str = "mypkg/call.py:5 ask") -> dict[str, Any]:
    """Return a failure because the adapter does not map an exception."""
    message = f"expected an error of the contract; got {name.rpartition('.')[2]}: gone ({UNMAPPED})"
    return failure(rule, scenario, message, cause=f"{name} in {where}", traceback=f"{name}: gone")


def test_errors_of_one_package_that_are_not_mapped_are_one_finding() -> None:
    results = [
        unmapped("ERR-3", "openai/a", "httpx.ReadTimeout"),
        unmapped("ERR-3", "openai/b", "httpx.ConnectError", where="mypkg/stream.py:8 events"),
        unmapped("ERR-2", "openai/c", "httpx.DecodingError"),
        unmapped("ERR-1", "openai/d", "openai.RateLimitError from httpx.HTTPStatusError"),
    ]
    httpx, openai = sorted(findings(results), key=lambda each: each.cause)
    assert (httpx.conversations, httpx.cells, httpx.cause) == (3, 3, "errors of httpx that the adapter does not map")
    assert "got ConnectError, DecodingError or ReadTimeout of httpx (neither its class" in httpx.message
    assert (httpx.rule, httpx.also, httpx.also_messages) == ("ERR-2", ("ERR-3",), {})
    assert (openai.conversations, openai.message) == (1, results[-1]["message"])
    assert httpx.examples[0]["cause"] == "httpx.DecodingError in mypkg/call.py:5 ask", "the place is shown with it"
    assert "cause" not in only([failure("MSG-2", "openai/a")]).examples[0]


def lost_word(scenario: str, word: str) -> dict[str, Any]:
    """Return a failure because the adapter loses a finish reason."""
    own = f'expected finish_reason "{word}"; got null'
    return failure("FIN-1", scenario, f"{own} (the provider's word is ...)", cause=own)


def test_values_that_are_lost_are_one_finding_that_names_all_of_them() -> None:
    alone = only([lost_word("openai/a", "stop"), lost_word("openai/b", "stop")])
    assert (alone.message, alone.kinds) == (lost_word("openai/a", "stop")["message"], ('"stop"',))
    finding = only([lost_word("openai/a", "stop"), lost_word("gemini/b", "content_filter")])
    assert finding.message == 'expected a finish_reason ("content_filter" or "stop"); got null'
    assert finding.examples[0]["cause"] == 'expected finish_reason "stop"; got null'


def test_lost_counts_are_one_finding_and_wrong_ones_are_others() -> None:
    results = [
        failure("USE-5", "openai/a", "expected cached_tokens 7; got cached_tokens null (a hint)"),
        failure(
            "USE-5", "openai/b", "expected cached_tokens 7, audio_tokens 8; got cached_tokens null, audio_tokens null"
        ),
        failure("USE-5", "openai/c", "expected audio_tokens 9; got audio_tokens 18"),
        failure(
            "USE-5", "openai/d", "expected cached_tokens 7, audio_tokens 9; got cached_tokens null, audio_tokens 18 (b)"
        ),
    ]
    for each in results:
        each["cause"] = without_values(each["message"].partition(" (")[0])
    lost, wrong = findings(results)
    assert (lost.message, lost.conversations, lost.cells) == (
        "expected a token count (audio_tokens or cached_tokens); got null",
        3,
        3,
    )
    assert (wrong.message, wrong.conversations, wrong.cells) == (results[2]["message"], 2, 1)
    (lost, wrong) = findings(results[3:])
    assert lost.message == "expected cached_tokens 7; got cached_tokens null (b)"
    assert wrong.message == "expected audio_tokens 9; got audio_tokens 18 (b)"


def test_a_wrong_count_beside_a_lost_one_is_told_under_also() -> None:
    both = "expected cached_tokens 7, audio_tokens 9; got cached_tokens null, audio_tokens 18"
    counts = failure("USE-5", "openai/a", both, cause=without_values(both))
    (finding,) = findings([failure("MSG-2", "openai/a"), counts])
    assert (finding.also_messages, finding.cells) == ({"USE-5": both}, 2)


def test_a_lost_count_is_a_better_example_than_a_lost_zero() -> None:
    zero, some = (
        failure("USE-5", f"openai/{count}", f"expected cached_tokens {count}; got cached_tokens null", cause="lost")
        for count in (0, 256)
    )
    assert only([zero, some]).message == some["message"]


def test_errors_that_are_hidden_in_the_same_way_are_one_finding() -> None:
    def hidden(scenario: str, error: str) -> dict[str, Any]:
        return failure("STR-6", scenario, f'expected {error}, raised or as response.error; got "stop"')

    finding = only([hidden("openai/a", "RateLimitError"), hidden("gemini/a", "ServerError")])
    assert finding.message == (
        'expected an error (RateLimitError or ServerError), raised or as response.error; got "stop"'
    )


def test_bugs_are_not_taken_for_errors_that_are_not_mapped() -> None:
    results = [unmapped("ERR-2", "openai/a", "KeyError"), unmapped("ERR-2", "openai/b", "ValueError")]
    assert [each.cause for each in findings(results)] == [each["cause"] for each in results]
    results = [unmapped("SHP-1", f"openai/{name}", f"httpx.{name}") for name in ("ReadError", "ConnectError")]
    for each in results:
        each["message"] = "expected an answer; it raised an exception"
    assert len(findings(results)) == 2


def test_adapters_do_not_share_findings() -> None:
    results = [failure("MSG-2", "openai/a"), failure("MSG-2", "openai/a", adapter="other")]
    assert [each.adapter for each in findings(results)] == ["mine", "other"]


def test_generated_failures_fold_into_the_recorded_finding() -> None:
    generated = failure("MSG-2", "openai/generated-chat-answers", provenance="generated")
    finding = only([generated, failure("MSG-2", "openai/a"), failure("MSG-2", "openai/b", provenance="recorded")])
    assert finding.provenance == {"recorded": 1, "synthetic": 1, "generated": 1}
    assert [each["provenance"] for each in finding.examples] == ["recorded", "synthetic", "generated"]


def test_rules_that_two_generated_inputs_break_are_two_findings() -> None:
    drawn = {"provenance": "generated", "scenario": "openai/generated-chat-answers"}
    same, other = {"id": "openai/same"}, {"id": "openai/other"}
    results = [
        failure(rule, **drawn, example=each) for rule, each in (("MSG-2", same), ("RSN-3", same), ("USE-1", other))
    ]
    assert [(each.rule, each.also) for each in findings(results)] == [("MSG-2", ("RSN-3",)), ("USE-1", ())]


def test_generated_inputs_that_differ_only_in_their_requests_are_two_exchanges() -> None:
    drawn = {"provenance": "generated", "scenario": "anthropic/generated-messages-malformed"}
    raised = {"traceback": "Traceback ..."}
    asked, empty = ({"body": "", "cuts": None, "id": f"anthropic/{id}"} for id in ("with-mcp-servers", "without"))
    type_error = failure("SHP-1", message="TypeError", **drawn, example=asked, **raised)
    also = failure("ERR-2", message="TypeError", **drawn, example=asked, **raised)
    json_error = failure("ERR-2", message="JSONDecodeError", **drawn, example=empty, **raised)
    assert {each.message for each in findings([type_error, {**also, "other_failures": [json_error]}])} == {
        "TypeError",
        "JSONDecodeError",
    }


def test_each_cause_that_a_search_finds_is_a_finding_with_its_example() -> None:
    drawn = {"provenance": "generated", "scenario": "openai/generated-chat-answers"}
    further = {"message": "two", "cause": "two", "example": {"id": "openai/other"}, "command": "pytest two"}
    searched = failure("MSG-2", message="one", **drawn, example={"id": "openai/same"}, other_failures=[further])
    one, two = findings([searched, failure("RSN-1", **drawn, example=further["example"])])
    assert (one.message, one.cells, one.command) == ("one", 1, None)
    assert (two.message, two.also, two.cells, two.command) == ("two", ("RSN-1",), 1, "pytest two")


def test_segments_fold_into_what_else_is_wrong_with_an_example_of_a_search() -> None:
    drawn = {"provenance": "generated", "scenario": "openai/generated-chat-answers"}
    repeated = {"id": "openai/other", "beside": [["USE-1", "count"], ["MSG-2", "lost"]]}
    results = [
        failure("MSG-2", message="lost", **drawn, example={"id": "openai/same"}),
        failure("RSN-3", **drawn, example=repeated),
    ]
    assert [(each.rule, each.also) for each in findings(results)] == [("MSG-2", ("RSN-3",))]
    alone = failure("RSN-3", **drawn, example={"id": "openai/other", "beside": []})
    assert [each.rule for each in findings([results[0], alone])] == ["MSG-2", "RSN-3"]


def test_examples_are_of_different_providers_and_short_first() -> None:
    results = [
        failure("MSG-2", f"openai/{name}", "long" * length, cause="same")
        for name, length in (("a", 3), ("b", 1), ("c", 2))
    ]
    results.append(failure("MSG-2", "zai/z", "long" * 9, cause="same", command="pytest z"))
    finding = only(results)
    assert [each["scenario"] for each in finding.examples] == ["openai/b", "zai/z", "openai/c"]
    assert finding.message == "long"
    assert finding.command == "pytest z"


def test_an_exception_is_one_finding_whichever_rule_reports_it() -> None:
    raised = {"cause": "KeyError in a.py:1 f", "traceback": "Traceback"}
    finding = only([failure("ERR-1", "openai/e", **raised), failure("SHP-1", "openai/a", **raised)])
    assert (finding.rule, finding.also, finding.conversations) == ("SHP-1", ("ERR-1",), 2)
    assert [each["scenario"] for each in finding.examples] == ["openai/a"]


def test_a_finding_has_the_traceback_and_the_think_profiles() -> None:
    finding = only([failure("SHP-1", "openai/a", traceback="Traceback", think_profile="leading")])
    assert finding.to_dict()["traceback"] == "Traceback"
    assert finding.think_profiles == ("leading",)


def verdict(status: str, rule: str, scenario: str, **others: Any) -> Verdict:
    return Verdict(**failure(rule, scenario, status=status, **others))


def test_a_conversation_is_right_if_nothing_in_it_fails() -> None:
    tally = Tally(keeps=True)
    tally.add(
        [
            verdict("pass", "MSG-2", "openai/a"),
            verdict("pass", "USE-1", "openai/a"),
            verdict("pass", "MSG-2", "openai/b"),
            verdict("expected", "USE-1", "openai/b"),
            verdict("blocked", "USE-1", "openai/c"),
            verdict("vacuous", "USE-1", "openai/d"),
            verdict("pass", "USE-1", "openai/e", provenance="generated"),
        ]
    )
    rows = conversations.counts(tally.conversations)
    found = {(each["provenance"], each["family"]): (each["judged"], each["right"]) for each in rows}
    assert found == {
        ("generated", None): (1, 1),
        ("generated", "USE"): (1, 1),
        ("synthetic", None): (2, 1),
        ("synthetic", "MSG"): (2, 2),
        ("synthetic", "USE"): (2, 1),
    }
    assert conversations.tally_of(each.to_dict() for each in tally.all_verdicts).conversations == tally.conversations


@pytest.mark.parametrize("spoilt", ["None", "''"])
def test_the_report_has_findings_and_conversations(pytester: pytest.Pytester, spoilt: str) -> None:
    pytester.makepyfile(
        wrong=f"""
        import dataclasses
        from adapters import ReferenceAdapters

        class Adapter(ReferenceAdapters):
            def parse(self, http, call):
                return dataclasses.replace(super().parse(http, call), message={spoilt})

        conformance_adapter = Adapter
        """
    )
    _, report = miniature.run(pytester, "--adapter=wrong", "--conformance-method=parse", "--conformance-examples=0")
    (finding,) = report["findings"]
    assert finding["rule"] == ("SHP-1" if spoilt == "None" else "MSG-2")
    assert "--conformance-scenario=mini/spider" in finding["examples"][0]["command"]
    wrong = {each["family"] for each in report["conversations"] if each["right"] < each["judged"]}
    assert {None, finding["rule"].partition("-")[0]} <= wrong
