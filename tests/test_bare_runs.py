"""Runs that judge bare recordings: what they count, report and refuse."""

from __future__ import annotations

import gzip
import json
import shlex
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from llm_conformance import schema
from llm_conformance.judging.plan import Filters
from llm_conformance.reports import files
from llm_conformance.scenarios import bare
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.yaml_files import BadFileError
from tests import inline, miniature
from tests.bare_cassettes import CITED, only, scenario, write


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
    options = ("--conformance-method=parse_stream", "--conformance-rule=PRV-6")
    result, _ = run(pytester, "--adapter=clock:Clock", *options)
    assert result.ret == 0
    result, report = run(pytester, "--adapter=clock:Wrong", *options)
    assert result.ret == 1
    (message,) = {result["message"] for result in report["results"]}
    said = (
        'expected created "2025-11-04T09:12:40Z" or "2025-11-04T09:12:41Z", to the second; got "2025-11-04T09:12:42Z"'
    )
    assert message == said


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
    result = inline.run(
        pytester,
        str(miniature.RULES),
        f"--conformance-cassettes={pytester.path / 'more'}",
        "--conformance-scenario=openai/one*",
        f"--conformance-report={report}",
        "-q",
        *arguments,
    )
    return result, files.read(report) if report.exists() else {}


def test_rules_judge_bare_recordings(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    result, report = run(pytester, "--adapter=adapters")
    assert result.ret == 0
    assert report["bare_recordings"] == {
        "seen": 1,
        "asked": {"reference": 1},
        "other_files": {},
        "cannot_be_asked": {},
        "out_of_scope": {},
        "not_covered": {},
        "not_covered_at": {},
        "bad_files": [],
    }
    judged = {(each["rule"], each["method"]) for each in report["results"] if each["status"] == "pass"}
    assert {("MSG-2", "parse"), ("MSG-2", "complete"), ("ANN-2", "parse"), ("USE-3", "complete")} <= judged


def test_what_cannot_be_asked_for_is_counted_by_reason(pytester: pytest.Pytester) -> None:
    asked = {"model": "gpt-4o-search-preview", "messages": [{"role": "critic", "content": "Hi"}]}
    write(pytester.path / "more", CITED, request={"body": json.dumps(asked)})
    result, report = run(pytester, "--adapter=adapters")
    assert result.ret == 0
    reason = "a message has the role 'critic'"
    assert report["bare_recordings"]["asked"] == {}
    assert report["bare_recordings"]["cannot_be_asked"] == {"reference": {reason: 1}}
    result.stdout.fnmatch_lines(
        ["asked for 0 of 1 recordings without a scenario", f"    1 recording cannot be asked for: {reason}"]
    )
    messages = {each["message"] for each in report["results"] if each["status"] == "unsupported"}
    assert reason in messages
    judged = {each["method"] for each in report["results"] if each["status"] == "pass"}
    assert judged == {"parse"}


def test_an_adapter_that_refuses_a_call_is_counted_as_not_asked(pytester: pytest.Pytester) -> None:
    tool = {"type": "function", "function": {"name": "look"}}
    asked = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    write(pytester.path / "more", CITED, request={"body": json.dumps(asked)})
    pytester.makepyfile(
        refuses="""
        from adapters import ReferenceAdapters

        class Refuses(ReferenceAdapters):
            capabilities = tuple(each for each in ReferenceAdapters.capabilities if each != "tools")

            def complete(self, call):
                raise NotImplementedError("no tools")
        """
    )
    _, report = run(pytester, "--adapter=refuses:Refuses")
    reason = "the adapter cannot make this call: NotImplementedError: no tools"
    assert list(report["bare_recordings"]["cannot_be_asked"].values()) == [{reason: 1}]


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
    result, report = run(pytester, "--adapter=trims", "--tb=short")
    assert result.ret == 1
    failed = {
        (each["scenario"], each["rule"], each["method"]) for each in report["results"] if each["status"] == "fail"
    }
    assert failed == {("openai/one", "MSG-2", "parse"), ("openai/one-more", "MSG-2", "parse")}
    kept = {(each["scenario"], each["method"]) for each in report["exchanges"]}
    assert kept == {("openai/one", "parse"), ("openai/one-more", "parse")}  # the other methods have nothing to show
    result.stdout.fnmatch_lines(
        ["*Expected*the message of 28 code points*", "Reproduce*--conformance-scenario=openai/one*"]
    )


def test_the_reproduce_command_finds_a_file_again(pytester: pytest.Pytester) -> None:
    flat = pytester.mkdir("flat")
    write(pytester.path, CITED, "test_x[openai]").rename(flat / "test_x[openai].yaml")
    write(pytester.path, CITED, "test_xo").rename(flat / "test_xo.yaml")
    pytester.makepyfile(wrong="class A:\n    providers = ['openai']\n    parse = dict\nconformance_adapter = A")
    result = inline.run(
        pytester,
        str(miniature.RULES),
        "--adapter=wrong",
        "--conformance-cassettes=flat",
        "--conformance-scenario=flat/*",
        "--conformance-transport=vcr",
        "--conformance-timeout=2.5",
        "--tb=short",
        apart=True,
    )
    lines = [line for line in result.stdout.lines if line.startswith("Reproduce") and "SHP-1" in line]
    ((_, *arguments),) = [shlex.split(line.removeprefix("Reproduce")) for line in lines if "test_x[[]" in line]
    assert {"--conformance-transport=vcr", "--conformance-timeout=2.5"} < set(arguments)
    report = f"--conformance-report={pytester.path / 'report.json'}"
    again = inline.run(pytester, *arguments, report)
    assert {**again.parseoutcomes(), "warnings": 0} == {"failed": 1, "warnings": 0}
    judged = files.read(pytester.path / "report.json")["results"]
    assert [each["scenario"] for each in judged] == ["flat/test_x[openai]"]


def test_a_file_that_is_no_cassette_is_a_usage_error(pytester: pytest.Pytester) -> None:
    path = write(pytester.path / "more", CITED)
    path.write_text("interactions: 5\n")
    other = miniature.write(
        pytester.path / "more", scenario=miniature.SCENARIO.replace("title:", "colour: red\ntitle:")
    )
    options = ("--adapter=adapters", "--conformance-cassettes=more", "--conformance-examples=0")
    result = inline.run(pytester, str(miniature.RULES), *options)
    assert result.ret == 4
    assert "test session starts" not in result.stdout.str(), "nothing is run"
    text = result.stderr.str()
    assert f"{path}:1: interactions: must be a list, and is 5" in text
    assert f"{other}:1: colour: no such key" in text, "all problems are told at once"
    outside = inline.run(pytester, str(miniature.RULES), *options, "--conformance-scenario=openai/refusal")
    assert outside.ret == 0, "a file outside the run does not matter"


@pytest.mark.parametrize(("text", "code", "complete"), [("interactions: 5", 4, False), ("interactions: []", 5, True)])
def test_a_run_with_a_file_that_is_no_cassette_is_not_complete(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, text: str, code: int, complete: bool
) -> None:
    """A run begins in spite of such a file if it is damaged only after the check, or is of the public corpus."""
    monkeypatch.setattr(bare, "problems", lambda _: [])
    write(pytester.path / "more", CITED).write_text(text)
    pytester.makepyfile(acme="class A:\n    providers = ['acme']\n    parse = print\nconformance_adapter = A")
    report = pytester.path / "report.json"
    options = ("--adapter=acme", "--conformance-cassettes=more", f"--conformance-report={report}")
    result = inline.run(pytester, str(miniature.RULES), "-q", *options)
    assert (result.ret, files.read(report)["complete"]) == (code, complete)
    result.stdout.no_fnmatch_line("OK: *")


def test_an_error_of_the_suite_is_not_a_failure_of_the_adapter(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    pytester.makepyfile(
        breaks="""
        from llm_conformance import schema
        from llm_conformance.scenarios import bare

        def recordings_of(file):
            raise LookupError("no such thing")

        bare.recordings_of = recordings_of
        """
    )
    result, report = run(pytester, "--adapter=adapters", "-p", "breaks")
    assert result.ret == 3
    assert report["summary"]["error"] == 1
    assert list(schema.problems("report", report)) == []
    result.stdout.fnmatch_lines(["*LookupError: no such thing*", "*a fault of llm-conformance*"])


def test_a_run_with_only_unknown_apis_does_not_pass(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED, request={"uri": "https://me:pass@api.acme.test/v1/chat?key=1"})
    write(pytester.path / "more", CITED, "one-more", request={"uri": "https://api.acme.test/v1/chat"})
    result, report = run(pytester, "--adapter=adapters")
    assert result.ret == 5
    assert report["bare_recordings"]["not_covered"] == {"reference": 2}
    assert report["bare_recordings"]["not_covered_at"] == {"reference": {"api.acme.test/v1/chat": 2}}
    assert list(schema.problems("report", report)) == []
    result.stdout.fnmatch_lines(
        ["*not covered: 2 of 2 scenarios and recordings*", "    2 recordings of api.acme.test/v1/chat"]
    )


def test_filtered_recordings_are_not_counted(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    write(pytester.path / "more", CITED, "one-stranger", request={"uri": "https://api.acme.test/v1/chat"})
    write(pytester.path / "more", CITED, "one-more", request={"uri": "https://api.groq.com/openai/v1/chat/completions"})
    pytester.makepyfile(acme="class A:\n    providers = ['groq']\n    parse = dict\nconformance_adapter = A")
    result, report = run(pytester, "--adapter=acme", "--conformance-provider=openai")
    assert report["bare_recordings"]["seen"] == 1
    assert list(report["bare_recordings"]["not_covered"].values()) == [1]
    assert list(report["bare_recordings"]["not_covered_at"].values()) == [{"api.openai.com/v1/chat/completions": 1}]
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
    assert filters.may_admit(bare.id_of(path, tmp_path)) == (admitted is not None)
    found = [number for number, each in enumerate(bare.recordings(path)) if filters.admits(cast("Scenario", each))]
    assert found == (admitted or [])


def test_cassettes_in_nested_folders_have_ids_of_their_own(pytester: pytest.Pytester) -> None:
    for folder in ("chat", "tools"):
        write(pytester.path / "more" / folder, CITED)
    result, report = run(pytester, "--adapter=adapters", "--conformance-rule=MSG-2", "--conformance-scenario=tools/*")
    assert result.ret == 0
    assert {each["scenario"] for each in report["results"]} == {"tools/openai/one"}


def test_two_endings_are_two_recordings_and_a_compressed_copy_is_an_error(pytester: pytest.Pytester) -> None:
    path = write(pytester.path / "more", CITED)
    path.with_suffix(".yml").write_bytes(path.read_bytes())
    result, report = run(pytester, "--adapter=adapters", "--conformance-rule=MSG-2")
    assert result.ret == 0
    assert {each["scenario"] for each in report["results"]} == {"openai/one", "openai/one.yml"}
    copy = path.with_suffix(".yaml.gz")
    copy.write_bytes(gzip.compress(path.read_bytes()))
    result, _ = run(pytester, "--adapter=adapters")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*openai/one is the id of {path} and of {copy}; rename a directory or a file*"])


@pytest.mark.parametrize(
    ("path", "id"),
    [
        ("a/b/c.yaml", "a/b/c"),
        ("a/c.yml", "a/c.yml"),
        ("a/c.yaml.gz", "a/c"),
        ("b/c.yaml", "b/c"),
        ("c.v2.yaml", "given/c.v2"),
        ("b.x/c.yaml", "b.x/c"),
    ],
)
def test_the_id_of_a_cassette_is_its_path_below_the_directory(path: str, id: str) -> None:
    assert bare.id_of(Path("/given", path), Path("/given")) == id


def test_workers_judge_them_too(pytester: pytest.Pytester) -> None:
    for number in range(4):
        write(pytester.path / "more", CITED, f"one-{number}")
    result, report = run(pytester, "--adapter=adapters", "-n2")
    assert result.ret == 0
    assert report["bare_recordings"]["seen"] == 4
    assert len({each["scenario"] for each in report["results"] if each["status"] == "pass"}) == 4
