"""Bare recordings are judged by their own bytes, as far as the recorder left them intact."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from llm_conformance import schema
from llm_conformance.judging.plan import Filters
from llm_conformance.scenarios import bare
from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.yaml_files import BadFileError
from tests import miniature

CITED = {
    "id": "chatcmpl-1",
    "model": "gpt-4o-search-preview-2025-03-11",
    "created": 1762247560,
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "Grün 🦀 ([a](http://a.test)).",
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {"start_index": 7, "end_index": 27, "url": "http://a.test"},
                    },
                    {
                        "type": "url_citation",
                        "url_citation": {"start_index": 0, "end_index": 0, "url": "http://b.test"},
                    },
                    {
                        "type": "url_citation",
                        "url_citation": {"start_index": 90, "end_index": 99, "url": "http://c.test"},
                    },
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}

COUNTED = {"prompt_tokens": 3, "total_tokens": 3}
AI_RUN = {"request": {"uri": "https://api.cloudflare.com/client/v4/accounts/abc/ai/run/@cf/acme/no-chat", "body": "{}"}}


EVENTS = {"headers": {"Content-Type": ["text/event-stream"]}}


def write(directory: Path, answer: Any, name: str = "one", **changes: Any) -> Path:
    """Write a bare cassette of one OpenAI answer; `changes` go to its request, response or metadata."""
    body = answer if isinstance(answer, str | bytes) else json.dumps(answer)
    request = {
        "method": "POST",
        "uri": "https://api.openai.com/v1/chat/completions",
        "body": json.dumps({"model": "gpt-4o-search-preview", "messages": [{"role": "user", "content": "Hi"}]}),
        "headers": {},
    }
    response = {
        "status": {"code": 200, "message": "OK"},
        "headers": {"Content-Type": ["application/json"]},
        "body": {"string": body},
    }
    document = {
        "version": 1,
        "metadata": changes.get("metadata"),
        "interactions": [
            {"request": request | changes.get("request", {}), "response": response | changes.get("response", {})}
        ],
    }
    path = directory / "openai" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document, allow_unicode=True), "utf-8")
    return path


def only(path: Path) -> Scenario | NotJudged:
    """Return the one recording of a cassette."""
    (found,) = bare.recordings(path)
    return found


def scenario(path: Path) -> Scenario:
    """Return the one recording of a cassette as a scenario."""
    found = only(path)
    assert isinstance(found, Scenario)
    return found


def test_the_expected_values_are_those_of_the_bytes(tmp_path: Path) -> None:
    found = scenario(write(tmp_path, CITED))
    expected = found.expected["json"]
    assert found.id == "openai/one"
    assert (expected.message, expected.ids, expected.times) == (
        "Grün 🦀 ([a](http://a.test)).",
        ("chatcmpl-1",),
        ("2025-11-04T09:12:40Z",),
    )
    spans = [(each.start, each.end, each.may_be_unanchored) for each in expected.annotations]
    assert spans == [(7, 27, False), (0, 0, True), (None, None, False)]
    assert expected.annotations[0].data == {"type": "url_citation", "url": "http://a.test"}
    assert expected.may_raise == ("ValidationError",)
    assert expected.usage is not None
    assert (expected.usage.total_tokens, expected.usage.cached_tokens) == (7, None)


@pytest.mark.parametrize(
    ("fidelity", "claimed", "not_claimed"),
    [
        (None, {"id", "created", "message", "annotations", "usage"}, set()),
        ("raw", {"id", "created", "message", "annotations", "usage"}, set()),
        ("json-asciified", {"id", "usage", "reasoning"}, {"message", "annotations"}),
        ("redacted-reserialised", {"usage", "finish_reason"}, {"id", "created", "message", "annotations"}),
    ],
)
def test_nothing_is_expected_that_the_recorder_altered(
    tmp_path: Path, fidelity: str | None, claimed: set[str], not_claimed: set[str]
) -> None:
    stated = scenario(write(tmp_path, CITED, metadata=fidelity and {"fidelity": fidelity})).expected["json"].stated
    assert claimed <= stated
    assert not not_claimed & stated


@pytest.mark.parametrize(
    ("answer", "changes", "why"),
    [
        (CITED, {"metadata": {"fidelity": "fixture-body"}}, "needs a scenario file"),
        (
            CITED,
            {"request": {"uri": "https://api.acme.test/v1/chat"}},
            "the provider table has no API at api.acme.test",
        ),
        (
            CITED,
            {"request": {"uri": "https://api.openai.com/v1/files"}},
            "the provider table has no API at api.openai.com",
        ),
        (CITED, {"request": {"body": "{}"}}, "names no model"),
        ("<html>", {}, "not of the shape of openai:chat"),
        ("[1]", {}, "not of the shape of openai:chat"),
        (CITED | {"created": 1e20}, {}, "not of the shape of openai:chat"),
        ("[" * 100_000, {}, "not of the shape of openai:chat"),
        (CITED | {"choices": [{"index": 0, "message": {"annotations": [7]}}]}, {}, "not of the shape of openai:chat"),
        ('{"choices": {"a": 1}}', {}, "without any part of an answer"),
        ({"result": {"shape": [1, 2], "data": [[0.5, 1]], "usage": COUNTED}}, AI_RUN, "without any part of an answer"),
        ({"result": {"text": "hello", "word_count": 1}, "success": True}, AI_RUN, "without any part of an answer"),
        ('data: {"completion": " Hi.", "stop": null}\n\n', {"response": EVENTS}, "without any part of an answer"),
    ],
)
def test_a_recording_that_cannot_be_judged_has_a_reason(tmp_path: Path, answer: Any, changes: Any, why: str) -> None:
    found = only(write(tmp_path, answer, **changes))
    assert isinstance(found, NotJudged)
    assert why in found.why


@pytest.mark.parametrize(
    ("answer", "message", "reasoning"),
    [
        ({"content": "Hm. </think>Paris."}, "Paris.", "Hm."),
        ({"content": "Paris."}, None, None),
        ({"content": "Paris.", "reasoning": "Hm."}, "Paris.", "Hm."),
    ],
)
def test_message_and_reasoning_are_undecided_if_nothing_closes_the_think_block(
    tmp_path: Path, answer: dict[str, str], message: str | None, reasoning: str | None
) -> None:
    model = "deepseek-ai/DeepSeek-R1"
    body = {"id": "1", "model": model, "choices": [{"index": 0, "message": answer, "finish_reason": "stop"}]}
    request = {"uri": "http://localhost:8000/v1/chat/completions", "body": json.dumps({"model": model})}
    expected = scenario(write(tmp_path, body, request=request)).expected["json"]
    assert expected.reasoning == reasoning  # which rules of the message go by, too
    assert ("message" in expected.stated, "reasoning" in expected.stated) == (message is not None, message is not None)
    assert message in (None, expected.message)


def test_results_of_a_search_may_be_annotations_or_not(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "Hi.", "executed_tools": [{"index": 0, "type": "search"}]}
    answer = {"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    groq = {"uri": "https://api.groq.com/openai/v1/chat/completions"}
    zai = {"uri": "https://api.z.ai/api/paas/v4/chat/completions"}
    assert "annotations" not in scenario(write(tmp_path, answer, request=groq)).expected["json"].stated
    message.pop("executed_tools")
    assert "annotations" in scenario(write(tmp_path, answer, request=groq)).expected["json"].stated
    answer["web_search"] = [{"title": "T", "link": "http://a.test"}]
    assert "annotations" not in scenario(write(tmp_path, answer, request=zai)).expected["json"].stated


def test_ids_that_are_numbers_are_text(tmp_path: Path) -> None:
    assert scenario(write(tmp_path, CITED | {"id": 7})).expected["json"].ids == ("7",)


def test_any_time_of_a_stream_is_correct(pytester: pytest.Pytester) -> None:
    deltas = [{"content": "Hi."}, {"content": " Bye."}]
    chunks: list[Any] = [
        {"id": "1", "model": "m", "created": 1762247560 + at, "choices": [{"index": 0, "delta": delta}]}
        for at, delta in enumerate(deltas)
    ]
    chunks[-1]["choices"][0]["finish_reason"] = "stop"
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    path = write(pytester.path / "more", body, response={"headers": {"content-type": ["text/event-stream"]}})
    assert scenario(path).expected["stream"].times == ("2025-11-04T09:12:40Z", "2025-11-04T09:12:41Z")
    pytester.makepyfile(
        clock="""
        from adapters import ReferenceAdapters
        from dataclasses import replace

        class Clock(ReferenceAdapters):
            time = "2025-11-04T09:12:41Z"

            def parse_stream(self, chunks, call):
                for event in super().parse_stream(chunks, call):
                    yield event if event.response is None else replace(
                        event, response=replace(event.response, created=self.time)
                    )

        class Wrong(Clock):
            time = "2025-11-04T09:12:42Z"
        """
    )
    options = ("--conformance-method=parse_stream", "--conformance-rule=PRV-1")
    result, _ = run(pytester, "--adapter=clock:Clock", *options)
    assert result.ret == 0
    result, report = run(pytester, "--adapter=clock:Wrong", *options)
    assert result.ret == 1
    (message,) = {result["message"] for result in report["results"]}
    said = (
        'expected created "2025-11-04T09:12:40Z" or "2025-11-04T09:12:41Z", to the second; got "2025-11-04T09:12:42Z"'
    )
    assert message == said


def test_an_error_status_is_an_error_of_its_class(tmp_path: Path) -> None:
    path = write(tmp_path, {"error": {"message": "slow down"}}, response={"status": {"code": 429, "message": ""}})
    assert scenario(path).expected["json"].error == "RateLimitError"


def test_compressed_bodies_are_decompressed(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps(CITED).encode())
    headers = {"content-type": ["application/json"], "Content-Encoding": ["gzip"], "Content-Length": [str(len(packed))]}
    for name, body in (("one", packed), ("by-the-recorder", json.dumps(CITED))):
        found = scenario(write(tmp_path, "", name, response={"headers": headers, "body": {"string": body}}))
        assert found.expected["json"].ids == ("chatcmpl-1",)
        assert json.loads(found.interactions["json"].body) == CITED
        assert found.interactions["json"].headers == {"content-type": "application/json"}


def test_a_file_that_is_no_cassette_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("version: 1\nhttp_interactions: []\n")
    with pytest.raises(BadFileError, match=r"x\.yaml:1: the file: 'interactions' is a required property"):
        list(bare.recordings(path))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"request": {"body": "[" * 100_000}}, r"another form: maximum recursion depth"),
        ({"request": {"body": ["a"]}}, r"another form: the request body is neither text nor bytes"),
        ({"request": {"parsed_body": {"a": b"b"}}}, r"another form: Object of type bytes is not JSON serializable"),
        ({"response": {"body": {"string": 5}}}, r"another form: the body is neither text nor bytes"),
        ({"response": {"body": None}}, r"response\.body: None is not of type 'object'"),
        ({"response": {"headers": {1: ["a"]}}}, r"headers: 1 is not of type 'string'"),
    ],
)
def test_an_odd_recording_is_out_of_scope(tmp_path: Path, changes: Any, reason: str) -> None:
    found = only(write(tmp_path, CITED, **changes))
    assert isinstance(found, NotJudged)
    assert re.search(reason, found.why)


def test_recordings_of_other_forms_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, CITED)
    document = yaml.safe_load(path.read_text("utf-8"))
    request = document["interactions"][0]["request"]
    headers = {"content-type": ["application/json"]}
    first = {"http_version": "HTTP/1.1", "status_code": 200, "headers": headers, "content": json.dumps(CITED)}
    parsed = {"status": {"code": 200}, "headers": headers, "parsed_body": CITED}
    asked = {"method": "POST", "uri": request["uri"], "parsed_body": json.loads(request["body"])}
    for sent, response, claims_all in ((request, first, True), (asked, parsed, False)):
        document["interactions"] = [{"request": sent, "response": response}]
        path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
        found = scenario(path)
        assert ("message" in found.expected["json"].stated) == claims_all
        assert (found.expected["json"].message, found.model) == (
            "Grün 🦀 ([a](http://a.test)).",
            "gpt-4o-search-preview",
        )


def test_a_cassette_with_aliases_is_out_of_scope(pytester: pytest.Pytester) -> None:
    path = write(pytester.path / "more", CITED)
    path.write_text(f"again: &a [1]\nonce: *a\n{path.read_text('utf-8')}", "utf-8")
    result, report = run(pytester, "--adapter=adapters")
    assert result.ret == 5
    assert list(report["bare_recordings"]["out_of_scope"]) == [
        "YAML anchors and aliases are refused; write the value out"
    ]
    path.write_text("again: &a [1]\nonce: *a\n", "utf-8")
    with pytest.raises(BadFileError, match="aliases are refused"):
        only(path)


def run(pytester: pytest.Pytester, *arguments: str) -> tuple[pytest.RunResult, dict[str, Any]]:
    """Judge the bare cassettes in `more` by the suite's rules, and no other scenario."""
    report = pytester.path / "report.json"
    result = pytester.runpytest_subprocess(
        str(miniature.RULES),
        f"--conformance-cassettes={pytester.path / 'more'}",
        "--conformance-scenario=openai/one*",
        f"--conformance-report={report}",
        "-q",
        *arguments,
    )
    return result, json.loads(report.read_text("utf-8")) if report.exists() else {}


def test_rules_judge_bare_recordings(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    result, report = run(pytester, "--adapter=adapters")
    assert result.ret == 0
    assert report["bare_recordings"] == {"seen": 1, "out_of_scope": {}, "not_covered": {}, "bad_files": []}
    judged = {(each["rule"], each["method"]) for each in report["results"] if each["status"] == "pass"}
    assert {("MSG-2", "parse"), ("MSG-2", "complete"), ("ANN-2", "parse"), ("USE-3", "complete")} <= judged


def test_a_file_that_is_found_twice_is_judged_once(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    again = (f"--conformance-cassettes={name}" for name in ("more", "more/openai", "./more/../more"))
    _, report = run(pytester, "--adapter=adapters", *again)
    assert report["bare_recordings"]["seen"] == 1


def test_a_broken_adapter_fails_on_them(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    write(pytester.path / "more", CITED | {"usage": None}, "one-more")
    pytester.makepyfile(
        trims="""
        from adapters import ReferenceAdapters
        from dataclasses import replace

        class Trims(ReferenceAdapters):
            def parse(self, http, call):
                answer = super().parse(http, call)
                return replace(answer, message=answer.message[:-1])

        conformance_adapter = Trims
        """
    )
    result, report = run(pytester, "--adapter=trims")
    assert result.ret == 1
    failed = {
        (each["scenario"], each["rule"], each["method"]) for each in report["results"] if each["status"] == "fail"
    }
    assert failed == {("openai/one", "MSG-2", "parse"), ("openai/one-more", "MSG-2", "parse")}
    result.stdout.fnmatch_lines(
        ["*Expected*the message of 28 code points*", "Reproduce*--conformance-scenario=openai/one*"]
    )


def test_the_reproduce_command_finds_a_file_again(pytester: pytest.Pytester) -> None:
    flat = pytester.mkdir("flat")
    write(pytester.path, CITED, "test_x[openai]").rename(flat / "test_x[openai].yaml")
    write(pytester.path, CITED, "test_xo").rename(flat / "test_xo.yaml")
    pytester.makepyfile(wrong="class A:\n    providers = ['openai']\n    parse = dict\nconformance_adapter = A")
    result = pytester.runpytest_subprocess(
        str(miniature.RULES),
        "--adapter=wrong",
        "--conformance-cassettes=flat",
        "--conformance-scenario=flat/*",
        "--conformance-transport=vcr",
        "--conformance-timeout=2.5",
    )
    lines = [line for line in result.stdout.lines if line.startswith("Reproduce") and "MSG-2" in line]
    ((_, *arguments),) = [shlex.split(line.removeprefix("Reproduce")) for line in lines if "test_x[[]" in line]
    assert {"--conformance-transport=vcr", "--conformance-timeout=2.5"} < set(arguments)
    report = f"--conformance-report={pytester.path / 'report.json'}"
    again = pytester.runpytest_subprocess(*arguments, report)
    assert {**again.parseoutcomes(), "warnings": 0} == {"failed": 1, "warnings": 0}
    judged = json.loads((pytester.path / "report.json").read_text("utf-8"))["results"]
    assert [each["scenario"] for each in judged] == ["flat/test_x[openai]"]


def test_a_file_that_is_no_cassette_is_a_usage_error(pytester: pytest.Pytester) -> None:
    path = write(pytester.path / "more", CITED)
    path.write_text("interactions: 5\n")
    result, report = run(pytester, "--adapter=adapters")
    assert result.ret == 4
    result.stdout.fnmatch_lines(["*one.yaml:1: interactions: 5 is not of type 'array'*"])
    assert report["bare_recordings"]["bad_files"] == [f"{path}:1: interactions: 5 is not of type 'array'"]
    assert list(schema.problems("report", report)) == []


@pytest.mark.parametrize(("text", "code", "complete"), [("interactions: 5", 4, False), ("interactions: []", 5, True)])
def test_a_run_with_a_file_that_is_no_cassette_is_not_complete(
    pytester: pytest.Pytester, text: str, code: int, complete: bool
) -> None:
    write(pytester.path / "more", CITED).write_text(text)
    pytester.makepyfile(acme="class A:\n    providers = ['acme']\n    parse = print\nconformance_adapter = A")
    report = pytester.path / "report.json"
    options = ("--adapter=acme", "--conformance-cassettes=more", f"--conformance-report={report}")
    result = pytester.runpytest_subprocess(str(miniature.RULES), "-q", *options)
    assert (result.ret, json.loads(report.read_text("utf-8"))["complete"]) == (code, complete)


def test_an_error_of_the_suite_is_not_a_failure_of_the_adapter(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    pytester.makepyfile(
        breaks="""
        from llm_conformance import schema
        from llm_conformance.scenarios import bare

        def recordings(path):
            raise LookupError("no such thing")

        bare.recordings = recordings
        """
    )
    result, report = run(pytester, "--adapter=adapters", "-p", "breaks")
    assert result.ret == 3
    assert report["summary"]["error"] == 1
    assert list(schema.problems("report", report)) == []
    result.stdout.fnmatch_lines(["*LookupError: no such thing*", "*a fault of llm-conformance*"])


def test_a_run_with_only_unknown_apis_does_not_pass(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED, request={"uri": "https://api.acme.test/v1/chat"})
    result, report = run(pytester, "--adapter=adapters")
    assert result.ret == 5
    assert report["bare_recordings"]["not_covered"] == {"reference": 1}


def test_filtered_recordings_are_not_counted(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    write(pytester.path / "more", CITED, "one-stranger", request={"uri": "https://api.acme.test/v1/chat"})
    write(pytester.path / "more", CITED, "one-more", request={"uri": "https://api.groq.com/openai/v1/chat/completions"})
    pytester.makepyfile(acme="class A:\n    providers = ['groq']\n    parse = dict\nconformance_adapter = A")
    result, report = run(pytester, "--adapter=acme", "--conformance-provider=openai")
    assert report["bare_recordings"]["seen"] == 1
    assert list(report["bare_recordings"]["not_covered"].values()) == [1]
    result.stdout.fnmatch_lines(["*not covered: 1 of 1 scenarios and recordings*"])


@pytest.mark.parametrize(
    ("pattern", "admitted"),
    [
        ("openai/two", [0, 1]),
        ("openai/t*", [0, 1]),
        ("openai/two#1", [1]),
        ("openai/t*#0", [0]),
        ("*/tw[o]#[1-9]", [1]),
        ("openai/two#7", []),
        ("openai/other#1", None),
        ("openai/tw", None),
    ],
)
def test_a_pattern_names_a_cassette_or_an_interaction_of_it(
    tmp_path: Path, pattern: str, admitted: list[int] | None
) -> None:
    path = write(tmp_path, CITED, "two")
    document = yaml.safe_load(path.read_text("utf-8"))
    document["interactions"] *= 2
    path.write_text(json.dumps(document), "utf-8")
    filters = Filters(scenarios=[pattern])
    assert filters.may_admit(path) == (admitted is not None)
    found = [number for number, each in enumerate(bare.recordings(path)) if filters.admits(cast("Scenario", each))]
    assert found == (admitted or [])


def test_workers_judge_them_too(pytester: pytest.Pytester) -> None:
    for number in range(4):
        write(pytester.path / "more", CITED, f"one-{number}")
    result, report = run(pytester, "--adapter=adapters", "-n2")
    assert result.ret == 0
    assert report["bare_recordings"]["seen"] == 4
    assert len({each["scenario"] for each in report["results"] if each["status"] == "pass"}) == 4
