"""Reading recordings a second time by an SDK, here by a fake one and by botocore: no test installs anything."""

from __future__ import annotations

import base64
import dataclasses
import fnmatch
import json
import sys
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from llm_conformance.corpus import recordings
from llm_conformance.scenarios.expected import Expected, ExpectedAnnotation, ExpectedToolCall
from llm_conformance.wire.answers import WireFacts
from llm_conformance.wire.framings.aws_event_stream import aws_message
from llm_conformance.wire.providers.table import table
from llm_conformance.yaml_files import BadFileError
from peers.environments import Environment
from tests import miniature
from tools.read_twice import __main__ as command
from tools.read_twice import inputs, settings
from tools.read_twice.comparison import compare
from tools.read_twice.difference import Difference, shown
from tools.read_twice.inputs import Recording
from tools.read_twice.loopback import Loopback
from tools.read_twice.probe import raised, read
from tools.read_twice.readers import chat

SDKS = """\
[[reads]]
sdk = "fake"
requirements = ["fake-sdk==1.0"]
reader = "chat"
options = { client = "tests.fake_client:Client" }
apis = ["deepseek:chat"]
"""
EXPLAINED = """\
[[explained]]
apis = ["deepseek:*"]
fields = ["reasoning"]
shape = "only ours"
mode = "json"
reason = "it is so"
source = "fake-sdk 1.0"
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Read the miniature by the fake SDK, in this environment; return the folder with the files."""
    miniature.write(tmp_path / "cassettes")
    (tmp_path / "sdks.toml").write_text(SDKS)
    (tmp_path / "explained.toml").write_text("")
    monkeypatch.setattr(inputs, "CASSETTES", tmp_path / "cassettes")
    monkeypatch.setattr(recordings, "of", lambda _: iter(()))
    monkeypatch.setattr(command, "SDKS", tmp_path / "sdks.toml")
    monkeypatch.setattr(command, "EXPLAINED", tmp_path / "explained.toml")
    here = Environment(Path(sys.prefix), tmp_path / "log")
    monkeypatch.setattr(command, "environment", lambda *_: here)
    return tmp_path


def read_by(fake: Path, client: str) -> None:
    (fake / "sdks.toml").write_text(SDKS.replace("fake_client:Client", f"fake_client:{client}"))


def test_an_sdk_that_reads_the_same_agrees(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("deepseek:chat")]
    (row,) = rows
    recordings, values, agree, explained, different, not_readable = map(int, row[-6:])
    assert (recordings, agree, explained, different, not_readable) == (2, values, 0, 0, 0)
    assert values > 20


def test_what_the_sdk_reads_in_another_way_is_listed(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_by(fake, "LosesReasoning")
    assert command.main([]) == 1
    printed = capsys.readouterr().out
    assert (
        "deepseek:chat json: reasoning, only ours (1)\n    mini/spider: Spiders are arachnids, so not six. | \n"
        in printed
    )


def test_an_explained_difference_is_only_counted(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_by(fake, "LosesReasoning")
    (fake / "explained.toml").write_text(EXPLAINED)
    assert command.main([]) == 0
    printed = capsys.readouterr().out
    assert "mini/spider" not in printed
    assert printed.splitlines()[-1].split()[-3:] == ["1", "0", "0"]


def test_an_explanation_that_matches_nothing_is_reported(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fake / "explained.toml").write_text(EXPLAINED)
    assert command.main([]) == 1
    assert "explained.toml: matches nothing: reasoning of `fields` in line 1 (it is so)" in capsys.readouterr().out


def test_an_explanation_of_what_was_not_read_is_not_reported(fake: Path) -> None:
    (fake / "explained.toml").write_text(EXPLAINED)
    assert command.main(["--corpus", "suite"]) == 0


def test_an_explanation_of_drawn_answers_needs_no_recording(fake: Path) -> None:
    (fake / "explained.toml").write_text(EXPLAINED + "generated = true\n")
    assert command.main([]) == 0


def test_drawn_answers_are_read(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_by(fake, "RefusesStreams")
    assert command.main(["--provider", "deepseek:chat", "--generated", "3"]) == 1
    printed = capsys.readouterr().out
    assert "deepseek/generated-chat-answers#1: null | TypeError: a stream was not" in printed
    assert "spider" not in printed


def test_what_an_sdk_cannot_read_is_a_difference(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_by(fake, "RefusesStreams")
    assert command.main([]) == 1
    assert "error, only the SDK's (1)\n    mini/spider: null | TypeError: a stream was not" in capsys.readouterr().out


def test_what_an_sdk_cannot_read_is_counted_by_reason(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_by(fake, "RefusesStreams")
    known = EXPLAINED.replace('"reasoning"', '"error"').replace("json", "stream").replace("only ours", "only the SDK's")
    (fake / "explained.toml").write_text(known)
    assert command.main([]) == 0
    assert capsys.readouterr().out.endswith("Not readable by the SDK:\n     1 it is so\n")


def test_an_sdk_that_cannot_be_used_is_no_agreement(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_by(fake, "Gone")
    assert command.main([]) == 1
    assert "fake: AttributeError: module 'tests.fake_client' has no attribute 'Gone'" in capsys.readouterr().out


def test_a_corpus_that_is_not_here_is_no_agreement(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of(_: object) -> Any:
        raise recordings.NotFetchedError([])

    monkeypatch.setattr(recordings, "of", of)
    with pytest.raises(SystemExit, match="llm-conformance corpus fetch"):
        command.main([])


def test_apis_that_no_sdk_reads_are_counted(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fake / "sdks.toml").write_text(SDKS.replace("deepseek:chat", "groq:chat"))
    assert command.main(["--corpus", "suite"]) == 0
    assert "Not read:\n     2 no SDK that was asked reads deepseek:chat\n" in capsys.readouterr().out


def test_bare_recordings_of_a_directory_are_read(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fake / "cassettes/mini/spider.scenario.yaml").unlink()
    assert command.main(["--corpus", str(fake / "cassettes")]) == 0
    assert " 2 " in capsys.readouterr().out


def recording(mode: Any = "json", status: int = 200, facts: WireFacts | None = None, **expected: Any) -> Recording:
    stated = frozenset(expected)
    return Recording("a", "x:y", mode, "m", status, {}, b"", Expected(stated=stated, **expected), facts or WireFacts())


def fields(recorded: Recording, **values: Any) -> list[str]:
    """Return the fields that differ."""
    return [each.field for each in compare(recorded, {"values": {"calls": [], "usage": None, **values}})[1]]


def test_calls_are_compared_one_by_one() -> None:
    recorded = recording(tool_calls=(ExpectedToolCall("1", "shell", '{"a": 1}', other_names=("shell_call",)),))
    right = {"id": "1", "name": "shell_call", "arguments": {"a": 1}}
    assert fields(recorded, calls=[right]) == []
    assert fields(recorded, calls=[{"name": "shell", "arguments": '{ "a":1}'}]) == []
    assert fields(recorded, calls=[{**right, "id": None, "arguments": "{"}]) == ["call: id", "call: arguments"]
    assert fields(recorded, calls=[right, right]) == ["calls"]


def test_citations_are_compared_one_by_one() -> None:
    recorded = recording(annotations=(ExpectedAnnotation(0, 2, "Hi", {"url": "u"}),))
    assert fields(recorded, citations=[{"start": 0, "end": 2, "text": "Hi", "url": "u", "title": None}]) == []
    assert fields(recorded, citations=[{"start": 1, "end": 2, "url": "v"}]) == ["citation: span", "citation: url"]
    assert fields(recorded, citations=[]) == ["citations"]


def test_counts_of_nothing_are_no_counts() -> None:
    assert fields(recording(usage=None), usage={"prompt_tokens": None}) == []
    assert fields(recording(usage=None), usage={"prompt_tokens": 0}) == ["usage"]


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        ({"text": "Hi."}, WireFacts(blocks={0: "Hi"})),
        ({"refusal": "No."}, WireFacts()),
        ({"model": "m-2"}, WireFacts(model="m-1")),
        ({"sealed": ["ab", "c"]}, WireFacts(opaque=["a", "bd"])),
        ({"sealed": ["abc"]}, WireFacts(opaque=["b", "ac"])),
        ({"media": [{"data": "aGk="}]}, WireFacts(media=[{"data": "aGo=", "id": "a"}])),
    ],
)
def test_what_the_bytes_say_is_compared(value: dict[str, Any], facts: WireFacts) -> None:
    assert fields(recording(facts=facts), **value) == list(value)


def test_sealed_data_may_come_in_pieces_and_whole_pieces_in_any_order() -> None:
    assert fields(recording(facts=WireFacts(opaque=["a-", "b_"])), sealed=["", "a+b/"]) == []
    assert fields(recording(facts=WireFacts(opaque=["a", "b"])), sealed=["b", "a", ""]) == []


def test_pieces_of_calls_without_index_are_joined_by_their_ids() -> None:
    def chunk(**call: Any) -> Any:
        function = SimpleNamespace(name=call.pop("name", None), arguments=call.pop("arguments", None))
        delta = SimpleNamespace(tool_calls=[SimpleNamespace(function=function, **call)])
        return SimpleNamespace(choices=[SimpleNamespace(index=0, delta=delta)])

    chunks = [
        chunk(id="1", name="wind", arguments='{"a"'),
        chunk(id=None, arguments=": 1}"),
        chunk(id="2", name="tide", arguments="{}"),
        chunk(id="2", arguments=""),
    ]
    calls = chat.folded(chunks).choices[0].message.tool_calls
    assert [(each.id, each.function.name, each.function.arguments) for each in calls] == [
        ("1", "wind", '{"a": 1}'),
        ("2", "tide", "{}"),
    ]


def test_errors_are_compared_by_status_class_and_wait() -> None:
    recorded = recording(status=429, error="RateLimitError", retry_after="7")
    right = {"class": "TooManyRequestsError", "status": 429, "retry_after": "7", "message": ""}
    assert compare(recorded, {"raised": right}) == (4, [])
    wrong = {"class": "NotFoundError", "status": None, "retry_after": None, "message": ""}
    found = [each.field for each in compare(recorded, {"raised": wrong})[1]]
    assert found == ["error: status", "error: class", "error: retry-after"]
    assert [each.shape for each in compare(recorded, {"values": {}})[1]] == ["only ours"]


def test_an_error_says_its_status_and_how_long_to_wait() -> None:
    class ClientError(Exception):
        response: Mapping[str, Any] = {
            "Error": {"Code": "ThrottlingException"},
            "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "3"}},
        }

    expected = {"class": "ThrottlingException", "message": "slow", "status": 429, "retry_after": "3"}
    assert raised(ClientError("slow")) == expected
    assert raised(ValueError("bad")) == {"class": "ValueError", "message": "bad", "status": None, "retry_after": None}


def test_texts_are_shown_where_they_differ() -> None:
    assert shown("a" * 100 + "b", "a" * 100 + "c") == "..." + "a" * 20 + "b"
    assert shown("a", None) == "a"
    assert shown([1], None) == "[1]"


def task(mode: str, headers: Mapping[str, str], body: bytes, status: int = 200) -> dict[str, Any]:
    return {
        "reader": "converse",
        "options": {},
        "model": "amazon.nova-lite-v1:0",
        "streamed": mode == "stream",
        "status": status,
        "headers": headers,
        "body": base64.b64encode(body).decode(),
    }


USAGE = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 9, "cacheReadInputTokens": 2}
VALUES = {
    "text": "Hi.",
    "reasoning": "Short.",
    "calls": [{"id": "t-1", "name": "wind", "arguments": {"at": "Büsum"}}],
    "citations": [],
    "sealed": "c2VhbA==",
    "finish": "tool_use",
    "usage": {
        "prompt_tokens": 5,
        "completion_tokens": 4,
        "total_tokens": 9,
        "cached_tokens": 2,
        "cache_write_tokens": None,
    },
}


def test_botocore_reads_a_plain_answer() -> None:
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Short.", "signature": "c2VhbA=="}}},
        {"text": "Hi."},
        {"toolUse": {"toolUseId": "t-1", "name": "wind", "input": {"at": "Büsum"}}},
    ]
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use", "usage": USAGE}
    asked = task("json", {"content-type": "application/json"}, json.dumps(body).encode())
    values = read(asked, Loopback(), {})["values"]
    assert values | {"sealed": "".join(values["sealed"])} == VALUES


def test_botocore_reads_a_stream() -> None:
    def delta(index: int, value: Mapping[str, Any]) -> tuple[str, Any]:
        return "contentBlockDelta", {"contentBlockIndex": index, "delta": value}

    start = {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "t-1", "name": "wind"}}}
    events = [
        ("messageStart", {"role": "assistant"}),
        delta(0, {"reasoningContent": {"text": "Sho"}}),
        delta(0, {"reasoningContent": {"text": "rt."}}),
        delta(0, {"reasoningContent": {"signature": "c2VhbA=="}}),
        delta(1, {"text": "H"}),
        delta(1, {"text": "i."}),
        ("contentBlockStart", start),
        delta(2, {"toolUse": {"input": '{"at": "B'}}),
        delta(2, {"toolUse": {"input": 'üsum"}'}}),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": USAGE, "metrics": {"latencyMs": 1}}),
    ]
    about = {":message-type": "event", ":content-type": "application/json"}
    body = b"".join(aws_message(about | {":event-type": kind}, json.dumps(value).encode()) for kind, value in events)
    answer = read(task("stream", {"content-type": "application/vnd.amazon.eventstream"}, body), Loopback(), {})
    values = answer["values"]
    (call,) = values["calls"]
    call["arguments"] = json.loads(call["arguments"])
    assert values | {"sealed": "".join(values["sealed"])} == VALUES


def test_botocore_raises_the_error_of_a_status() -> None:
    headers = {"content-type": "application/json", "x-amzn-errortype": "ThrottlingException", "retry-after": "3"}
    answer = read(task("json", headers, b'{"message": "slow down"}', 429), Loopback(), {})["raised"]
    assert (answer["class"], answer["status"], answer["retry_after"]) == ("ThrottlingException", 429, "3")
    recorded = recording(status=429, error="RateLimitError", retry_after="3")
    assert compare(recorded, {"raised": answer}) == (4, [])


def test_no_api_is_read_by_two_sdks() -> None:
    found = settings.reads(settings.SDKS)
    apis = Counter(api for each in found for api in each.apis)
    assert set(apis.values()) == {1}
    assert all(hasattr(import_module(f"tools.read_twice.readers.{each.reader}"), "Reader") for each in found)
    assert all("==" in requirement for each in found for requirement in each.sdk.requirements)


def test_every_explanation_has_globs_of_apis_that_exist() -> None:
    apis = [str(api) for api in table().values()]
    for each in settings.explanations(settings.EXPLAINED):
        assert all(fnmatch.filter(apis, glob) for glob in each.apis), each


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("deepseek:chat", "deepsek:chat", "6: deepsek:chat: no such API; did you mean deepseek:chat?"),
        ('requirements = ["fake-sdk==1.0"]', "", "2: fake: no such SDK in sdks.toml of tools/sdk_types, and no"),
        ("fake-sdk==1.0", "fake-sdk", "3: reads.0.requirements.0: must match the pattern"),
        ("reader =", "raeder =", "4: reads.0.raeder: no such key; did you mean reader?"),
    ],
)
def test_the_file_of_sdks_is_checked(tmp_path: Path, right: str, wrong: str, problem: str) -> None:
    path = tmp_path / "sdks.toml"
    path.write_text(SDKS)
    assert [each.sdk.name for each in settings.reads(path)] == ["fake"]
    path.write_text(SDKS.replace(right, wrong))
    with pytest.raises(BadFileError) as refused:
        settings.reads(path)
    assert any(str(each).startswith(f"{path}:{problem}") for each in refused.value.problems), refused.value


def test_the_file_of_explanations_is_checked(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fake / "explained.toml").write_text(EXPLAINED.replace("reason =", "raison =").replace("only ours", "ours"))
    assert command.main([]) == 1
    printed = capsys.readouterr().err
    assert "explained.toml:4: explained.0.shape: must be" in printed
    assert "explained.toml:6: explained.0.raison: no such key" in printed


def test_an_explanation_fits_only_what_it_names() -> None:
    (known,) = (settings.Explanation(("x:*",), ("usage*",), "r", "s", mode="json", found="* | null"),)
    right = Difference("x:y", "a", "json", "usage: total_tokens", "only ours", "1", "null")
    assert known.fits(right) == [("apis", "x:*"), ("fields", "usage*"), ("recordings", "*")]
    changes: list[dict[str, Any]] = [{"api": "z:y"}, {"mode": "stream"}, {"field": "text"}, {"theirs": "2"}]
    for change in changes:
        assert known.fits(dataclasses.replace(right, **change)) == []
