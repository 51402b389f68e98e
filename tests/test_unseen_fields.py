"""Which fields, events and words recordings have and scenarios lack, and the reverse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import miniature
from tests.bare_cassettes import EVENTS, write
from tools import documents, stream_steps, unseen_fields

DEEPSEEK: dict[str, Any] = {"request": {"uri": miniature.URI, "body": json.dumps(miniature.REQUEST)}}


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    miniature.write(tmp_path / "cassettes")
    monkeypatch.setattr(unseen_fields, "CASSETTES", tmp_path / "cassettes")
    return tmp_path / "recorded"


def answer(**changes: Any) -> dict[str, Any]:
    return {**json.loads(miniature.body()), **changes}


def listed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[str]:
    assert unseen_fields.main(list(map(str, arguments))) == 0
    return capsys.readouterr().out.strip().splitlines()


def test_fields_and_words_that_no_scenario_has(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "Eight"}}
    write(recordings, answer(choices=[choice], billing={"cost": {"cents": 1}}), "one", **DEEPSEEK)
    write(recordings, answer(billing={"cost": {"cents": 2}}), "two", **DEEPSEEK)
    assert listed(capsys, recordings) == [
        "deepseek:chat: 2",
        "!    2  /billing and 2 below  (openai/one.yaml)",
        "!    1  /choices/*/finish_reason = length  (openai/one.yaml)",
    ]


def test_events_and_blocks_are_told_apart_by_their_type(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [{"type": "ping"}, {"type": "start", "block": {"type": "text", "text": ""}}]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    write(recordings, body, **DEEPSEEK, response=EVENTS)
    assert listed(capsys, recordings)[1:] == [
        "!    1  [ping]  (openai/one.yaml)",
        "!    1  [start] and 3 below  (openai/one.yaml)",
    ]


def test_names_that_people_chose_are_no_fields(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(arguments={"city": "Ulm"}), **DEEPSEEK)
    assert listed(capsys, recordings)[1:] == ["!    1  /arguments  (openai/one.yaml)"]


def test_what_only_scenarios_have(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(usage=None), **DEEPSEEK)
    lines = listed(capsys, recordings, "--reverse")
    assert "!    1  /usage/prompt_tokens  (mini/spider)" in lines
    assert listed(capsys, recordings, "--reverse", "--most=1")[-1] == f"       and {len(lines) - 2} more"


def test_what_all_recordings_have(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5):
        usage = {**miniature.USAGE, "cost": number}
        sometimes = {"system_fingerprint": "a"} if number else {}
        write(recordings, answer(usage=usage, **sometimes), str(number), **DEEPSEEK)
    assert listed(capsys, recordings, "--always") == ["deepseek:chat json: /usage/cost: 1: mini/spider"]


def test_what_the_generator_of_an_api_never_draws(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(colour="red"), "one", **DEEPSEEK)
    error = {"status": {"code": 400}, "headers": {"content-type": ["application/json"]}}
    write(recordings, {"error": {"message": "No."}}, "two", **DEEPSEEK, response=error)
    assert "!    1  /colour  (openai/one.yaml)" in listed(capsys, recordings, "--generated", "30")
    assert not [line for line in listed(capsys, recordings, "--generated", "30") if "error" in line]
    assert [line for line in listed(capsys, recordings, "--generated", "30", "--reverse") if "/tool_calls" in line]


def test_the_same_answers_are_drawn_each_time() -> None:
    first, again = ([*documents.of_generated(["deepseek:chat"], 3)] for _ in range(2))
    assert first == again
    themes, numbers = ("answers", "second-turns"), (1, 2, 3)
    names = {f"deepseek/generated-chat-{theme}#{number}" for theme in themes for number in numbers}
    assert {each.scenario for each in first} == names
    assert {each.kind for each in first} == {"request", "json", "event"}


def test_other_files_and_apis_are_skipped(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(), request={"uri": "https://nobody.example/"})
    (recordings / "notes.yaml").write_text("a: b")
    assert unseen_fields.main([str(recordings)]) == 0
    assert capsys.readouterr().err.splitlines() == ["1 skipped: no cassette", "1 skipped: no such API"]


def test_a_provider_is_chosen(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(billing=1), **DEEPSEEK)
    assert listed(capsys, recordings, "--provider=zai") == []


def test_steps_of_streams_that_only_scenarios_have(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = miniature.stream_body().replace(b'"content": "", "reasoning_content": null', b'"content": ""')
    write(recordings, body.decode(), **DEEPSEEK, response=EVENTS)
    assert listed(capsys, recordings, "--steps", "--reverse") == [
        "deepseek:chat: 2",
        "!    1  content reasoning_content=null -> content=empty reasoning_content=null finish usage  (mini/spider)",
        "!    1  content=empty reasoning_content=null finish usage -> end  (mini/spider)",
    ]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"type": "content_block_delta", "delta": {"type": "text_delta"}}, "content_block_delta text_delta"),
        ({"choices": []}, "no choice"),
        (
            {"choices": [{"delta": {"tool_calls": [{"id": "", "index": 0}]}}], "usage": {"a": 1}},
            "tool_calls(index) usage",
        ),
        ({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]}, "text=empty finish"),
        ({"message": {"content": "a", "thinking": None}, "done": True}, "content thinking=null done"),
        ({"contentBlockDelta": {"delta": {"text": "a"}}}, "contentBlockDelta text"),
        ("text", "str"),
    ],
)
def test_what_a_document_of_a_stream_carries(document: Any, expected: str) -> None:
    assert stream_steps.label(document) == expected


def test_an_answer_that_is_nested_too_deeply_is_left_out(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(billing=1), "one", **DEEPSEEK)
    write(recordings, '{"choices": ' + "[" * 3000 + "]" * 3000 + "}", "two", **DEEPSEEK)
    assert listed(capsys, recordings) == ["deepseek:chat: 1", "!    1  /billing  (openai/one.yaml)"]
