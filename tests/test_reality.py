"""Which fields, events and words recordings have and scenarios lack, and the reverse."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import toml_files
from llm_conformance.wire.providers.table import table
from tests import miniature
from tests.bare_cassettes import EVENTS, write
from tools import documents
from tools.reality import __main__ as reality
from tools.reality import features, steps
from tools.reality import page as page_module

DEEPSEEK: dict[str, Any] = {"request": {"uri": miniature.URI, "body": json.dumps(miniature.REQUEST)}}


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    miniature.write(tmp_path / "cassettes")
    monkeypatch.setattr(reality, "CASSETTES", tmp_path / "cassettes")
    return tmp_path / "recorded"


def answer(**changes: Any) -> dict[str, Any]:
    return {**json.loads(miniature.body()), **changes}


def listed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[str]:
    assert reality.main(list(map(str, arguments))) == 0
    return capsys.readouterr().out.strip().splitlines()


def test_fields_and_words_that_no_scenario_has(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "Eight"}}
    write(recordings, answer(choices=[choice], billing={"cost": {"cents": 1}}), "one", **DEEPSEEK)
    write(recordings, answer(billing={"cost": {"cents": 2}}), "two", **DEEPSEEK)
    assert listed(capsys, recordings) == [
        "deepseek:chat: 2",
        "!    2  /billing and 2 below  (openai/one)",
        "!    1  /choices/*/finish_reason = length  (openai/one)",
    ]


def test_events_and_blocks_are_told_apart_by_their_type(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [{"type": "ping"}, {"type": "start", "block": {"type": "text", "text": ""}}]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    write(recordings, body, **DEEPSEEK, response=EVENTS)
    assert listed(capsys, recordings)[1:] == [
        "!    1  [ping]  (openai/one)",
        "!    1  [start] and 3 below  (openai/one)",
    ]


@pytest.mark.parametrize(
    ("value", "wire", "expected"),
    [
        ({"stop_reason": "end_turn", "text": "end_turn"}, "messages", {"/stop_reason = end_turn"}),
        ({"error": {"code": "no_such_model"}, "code": "print"}, "chat", {"/error/code = no_such_model"}),
        ({"usage": {"type": "full"}}, "chat", {"/usage[full]"}),
        (
            {"contentBlockDelta": {"delta": {"text": "a"}}},
            "converse",
            {"[contentBlockDelta]/contentBlockDelta/delta[text]"},
        ),
        ({"parts": [{"thought": True, "text": "a"}]}, "gemini", {"/parts/*[text]/thought"}),
        ({"metadata": {"colour": {"status": "red"}}}, "responses", {"/metadata"}),
    ],
)
def test_what_is_a_feature(value: Any, wire: str, expected: set[str]) -> None:
    document = documents.Document("any:api", "any", "stream 0", "event", "", 200, value)
    found = features.features([document], wire)
    assert expected <= found
    assert not any(" = " in each for each in found - expected)
    assert not any("colour" in each for each in found)


def test_each_wire_format_says_which_fields_have_words() -> None:
    formats, _ = toml_files.read(Path(features.__file__).with_name("formats.toml"))
    assert formats.keys() - {"all"} == {api.wire for api in table().values()}


def test_the_answer_so_far_has_the_same_fields_in_all_events() -> None:
    events = [{"type": f"response.{name}", "response": {"store": True}} for name in ("created", "completed")]
    answer = [documents.Document("any:api", "any", "stream", "event", "", 200, each) for each in events]
    found = features.features(answer, "responses")
    assert {each for each in found if "store" in each} == {"[...]/response/store"}
    assert {each for each in found if features.kind(each) == "event"} == {"[response.created]", "[response.completed]"}


def test_statuses_of_errors_are_words(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = {"status": {"code": 402}, "headers": {"content-type": ["application/json"]}}
    write(recordings, {"error": {"message": "No."}}, **DEEPSEEK, response=error)
    assert "!    1  HTTP status = 402  (openai/one)" in listed(capsys, recordings)


def test_probes_do_not_count_as_scenarios(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(), **DEEPSEEK)
    assert listed(capsys, recordings) == ["deepseek:chat: 0"]
    cassette = recordings.parent / "cassettes" / "mini" / "spider.yaml"
    cassette.write_text(cassette.read_text("utf-8").replace("metadata:", "metadata:\n  grounds: probe", 1), "utf-8")
    assert listed(capsys, recordings) != ["deepseek:chat: 0"]


def page(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = reality.main([*map(str, arguments), "--format=markdown", "--check"])
    return (code, *capsys.readouterr())


def test_a_page_says_what_is_often_in_recordings(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        write(recordings, answer(colour="red", **({"shade": 1} if number else {})), str(number), **DEEPSEEK)
    code, text, problems = page(capsys, recordings)
    assert code == 1
    assert problems.splitlines() == ["chat: /colour: not explained"]
    often, seldom = text.partition("## In some recordings")[::2]
    assert "| 20 | 1 | deepseek:chat | `/colour` | `openai/0` | **not explained** |" in often
    assert "| 19 | 1 | deepseek:chat | `/shade` | `openai/1` |" in seldom
    assert "| `deepseek:chat` | 20 | 0, 0, " in text
    assert " | 2 | 2 | 1 | " in text  # lacking in scenarios of the API, of the format; scenarios; only in these
    digest = page_module.scenarios_digest(recordings.parent / "cassettes")
    assert f"from recorded (20 interactions) and the scenarios {digest}." in text


def test_what_is_in_three_packages_is_often_in_recordings(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        write(recordings / str(number), answer(colour="red"), **DEEPSEEK)
    assert page(capsys, recordings)[0] == 1


def test_an_explanation_says_why_no_scenario_has_a_feature(
    recordings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        write(recordings, answer(colour="red"), str(number), **DEEPSEEK)
    file = recordings.parent / "explained.toml"
    file.write_text('[[explained]]\nwire = "chat"\nat = ["/colour", "/gone"]\nreason = "Only painters use it."\n')
    monkeypatch.setattr(reality, "EXPLAINED", file)
    code, text, problems = page(capsys, recordings)
    assert (code, problems) == (0, "")
    assert "| Only painters use it. |" in text
    monkeypatch.setattr("llm_conformance.corpus.places.is_public", lambda _: True)
    monkeypatch.setattr("tools.recordings._files", lambda directory: iter(()))
    code, _, problems = page(capsys, recordings)
    assert code == 1
    assert problems.splitlines()[-1] == "explained.toml: fits nothing: /gone (Only painters use it.)"


def test_what_only_scenarios_have_is_counted_by_grounds(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(usage=None, choices=[]), **DEEPSEEK)
    row = page(capsys, recordings)[1].splitlines()[-2]
    assert re.fullmatch(r"\| `deepseek:chat` \| \d+ and \d+ \|  \|  \|  \|", row)


def test_the_page_takes_no_options_of_lists(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(), **DEEPSEEK)
    for arguments in (["--format=markdown", "--steps"], ["--check"]):
        with pytest.raises(SystemExit):
            reality.main([str(recordings), *arguments])


def test_the_public_corpus_is_read_by_default(
    recordings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_CONFORMANCE_CACHE", str(recordings))
    with pytest.raises(SystemExit):
        reality.main([])
    assert "llm-conformance corpus fetch" in capsys.readouterr().err
    (recordings / "public-corpus").mkdir(parents=True)
    with pytest.raises(SystemExit):
        reality.main([])
    assert "not fetched: langchain-openai" in capsys.readouterr().err


def test_names_that_people_chose_are_no_fields(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(arguments={"city": "Ulm"}), **DEEPSEEK)
    assert listed(capsys, recordings)[1:] == ["!    1  /arguments  (openai/one)"]


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
    assert "!    1  /colour  (openai/one)" in listed(capsys, recordings, "--generated", "30")
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
    assert reality.main([str(recordings)]) == 0
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
    assert steps.label(document) == expected


def test_an_answer_that_is_nested_too_deeply_is_left_out(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(recordings, answer(billing=1), "one", **DEEPSEEK)
    write(recordings, '{"choices": ' + "[" * 3000 + "]" * 3000 + "}", "two", **DEEPSEEK)
    assert listed(capsys, recordings) == ["deepseek:chat: 1", "!    1  /billing  (openai/one)"]
