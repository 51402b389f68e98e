"""Recordings whose URLs, bodies and streams are odd, endless when unpacked, or too many."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import limits
from llm_conformance.scenarios import bare, cassette
from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.scenarios.cassette import Unreadable
from llm_conformance.scenarios.recorders import files as recorder_files
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM
from llm_conformance.wire.interaction import Interaction
from llm_conformance.yaml_files import BadFileError
from tests import miniature
from tests.hostile_files import files

EVENTS = {"content-type": ["text/event-stream"]}
PACKED = {"content-type": ["application/json"], "content-encoding": ["gzip"]}


def reason(path: Path) -> str:
    """Return why the only recording of a cassette is not judged."""
    (found,) = bare.recordings(path)
    assert isinstance(found, NotJudged)
    return found.why


def stream(body: bytes) -> Interaction:
    return Interaction(files.URI, {}, 200, {"content-type": "text/event-stream"}, body)


@pytest.mark.parametrize(
    "uri",
    [
        "https://[::1/",
        "https://[/",
        "https://]/",
        "https://api.openai.com:99999999/v1/chat/completions",
        "https://api.openai.com:port/v1/chat/completions",
        "https://api.op\0enai.com/v1/chat/completions",
        "https://a\u2100b.com/",
        "https:// /",
        "https://%zz/%zz",
        "https://",
        "//",
        "",
        "https://x\x1b[31m/",
        "https://\ud800/",
        f"https://{'a' * 100_000}/",
        f"https://a/{'/' * 100_000}",
        f"https://a/{'%2e%2e/' * 10_000}",
    ],
    ids=range(17),
)
def test_an_odd_url_is_one_of_no_provider(tmp_path: Path, capsys: pytest.CaptureFixture[str], uri: str) -> None:
    path = files.bare(tmp_path, uri=uri)
    assert reason(path).startswith("the provider table has no API at ")
    said = files.imported(path, capsys)
    assert "not imported: one.json#0: the provider table has no API at " in said
    assert "\x1b" not in said


@pytest.mark.parametrize("uri", ["https://[::1/", "https://api.deepseek.com:port/chat/completions"])
def test_an_odd_url_of_a_scenario_is_refused(tmp_path: Path, uri: str) -> None:
    miniature.write(tmp_path)
    path = tmp_path / "mini/spider.yaml"
    path.write_text(path.read_text("utf-8").replace(miniature.URI, uri))
    assert all(
        f"recorded from {uri}, which is no call of deepseek:chat" in each for each in miniature.problems(tmp_path)
    )


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_count_that_is_not_json_is_the_fault_of_the_recording(tmp_path: Path, number: str) -> None:
    body = miniature.body().replace(b'"prompt_tokens": 12', f'"prompt_tokens": {number}'.encode())
    files.with_bodies(tmp_path, plain=body)
    what = f"the recorded body is not of the provider's shape: ValueError('{number} is not JSON')"
    assert files.only_problem(tmp_path) == f"spider.scenario.yaml:7: {what}"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_bare_recording_with_a_count_that_is_not_json_blames_no_adapter(
    tmp_path: Path, number: str, mode: str
) -> None:
    body = json.dumps(files.ANSWER).replace('"prompt_tokens": 3', f'"prompt_tokens": {number}')
    path = files.bare(tmp_path, body={"string": body})
    if mode == "stream":
        path = files.bare(tmp_path, headers=EVENTS, body={"string": f"data: {body}\n\n"})
    assert reason(path) == "the body is not of the shape of openai:chat: ValueError"


def test_a_text_may_say_nan(tmp_path: Path) -> None:
    body = json.dumps(files.ANSWER).replace("Hello.", "NaN")
    (found,) = bare.recordings(files.bare(tmp_path, body={"string": body}))
    assert isinstance(found, Scenario)
    assert found.expected["json"].message == "NaN"


@pytest.mark.parametrize("levels", [300, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_body_of_many_levels_is_refused_or_judged(tmp_path: Path, levels: int, opening: str) -> None:
    deep = opening * levels + "1" + ("]" if opening == "[" else "}") * levels
    body = miniature.body().decode().replace('"prompt_tokens": 12', f'"prompt_tokens": {deep}').encode()
    files.with_bodies(tmp_path, plain=body)
    assert miniature.problems(tmp_path)[0].startswith("spider.scenario.yaml:7: ")
    answer = json.dumps(files.ANSWER).replace('"prompt_tokens": 3', f'"prompt_tokens": {deep}')
    (found,) = bare.recordings(files.bare(tmp_path / "bare", body={"string": answer}))
    assert isinstance(found, NotJudged | Scenario)


def test_a_request_of_many_levels_is_refused(tmp_path: Path) -> None:
    miniature.write(tmp_path)
    path = tmp_path / "mini/spider.yaml"
    deep = "[" * 100_000 + "]" * 100_000
    path.write_text(path.read_text("utf-8").replace('{"model"', f'{{"deep": {deep}, "model"', 1))
    assert "spider.yaml:1: a recorded request body is not a JSON object: " in files.only_problem(tmp_path)


def test_json_of_many_levels_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.json"
    path.write_text('{"interactions": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert "one.json:1: not valid JSON: maximum recursion depth" in files.imported(path, capsys)


def test_a_bare_cassette_of_too_many_interactions_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INTERACTIONS", 3)
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"interactions": [[]] * 4}))
    what = "one.json:1: has 4 interactions; at most 3 are allowed, split the file"
    assert what in files.imported(path, capsys)
    path.write_text(json.dumps({"interactions": [[]] * 3}))
    assert "has 4" not in files.imported(path, capsys)


def test_bodies_that_are_small_until_they_are_unpacked_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODIES", 2_500_000)
    unpacked: list[int] = []

    def noted(body: bytes) -> bytes:
        unpacked.append(len(body))
        return decompressed(body)

    decompressed = recorder_files.decompressed
    monkeypatch.setattr(recorder_files, "decompressed", noted)
    body = {"base64_string": base64.b64encode(gzip.compress(bytes(1_000_000))).decode()}
    path = files.bare(tmp_path, headers=PACKED, body=body)
    document = json.loads(path.read_text("utf-8"))
    document["interactions"] *= 10
    path.write_text(json.dumps(document))
    _, found = cassette.load_bare(path)
    assert path.stat().st_size < 100_000
    assert [isinstance(each, Unreadable) for each in found] == [False] * 2 + [True] * 8
    assert "MiB when they are unpacked" in found[-1].why  # type: ignore[union-attr]
    assert len(unpacked) == 3


def test_a_stream_of_too_many_frames_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FRAMES", 5_000)
    body = b": ping\n\n" * 5_000 + miniature.stream_body()
    files.with_bodies(tmp_path, stream=body)
    what = "a stream of more than 5,000 frames; shorten the recording"
    assert files.only_problem(tmp_path).endswith(what)
    path = files.bare(tmp_path / "bare", headers=EVENTS, body={"string": body.decode()})
    assert reason(path) == "a stream of more than 5,000 frames"


def test_frames_are_counted_up_to_the_bound_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FRAMES", 5_000)
    counted: list[bytes] = []
    split = EVENT_STREAM.frames

    def noted(self: Framing, body: bytes) -> Iterator[bytes]:
        for frame in split(body):
            counted.append(frame)
            yield frame

    monkeypatch.setattr(type(EVENT_STREAM), "frames", noted)
    assert stream(b": ping\n\n" * 20_000).too_large
    assert len(counted) == 5_001


@pytest.mark.parametrize("line", [b"data: \n", b"data:\r\n", b": ping\n", b"\n", b"\r", b"id:1\n"])
def test_a_frame_of_too_many_lines_is_refused(line: bytes) -> None:
    what = f"a stream with a frame of more than {limits.LINES_OF_A_FRAME:,} lines"
    assert stream(b"data: {}\n" + line * (limits.LINES_OF_A_FRAME + 1) + b"\n").too_large == what


def test_a_scenario_with_a_frame_of_too_many_lines_is_refused_at_its_body(tmp_path: Path) -> None:
    path = files.with_bodies(tmp_path, stream=b"data: {\n" + b"data: \n" * 20_000 + b"data: }\n\n")
    name, line, what = files.only_problem(tmp_path).split(":", 2)
    assert (name, what) == ("spider.yaml", " a stream with a frame of more than 10,000 lines; shorten the recording")
    assert path.read_text("utf-8").splitlines()[int(line) - 1].strip() == "body:"


def test_a_stream_of_a_hundred_thousand_tokens_is_taken() -> None:
    assert stream(miniature.stream_body().split(b"\n\n")[0].join([b"", b"\n\n"]) * 60_000).too_large == ""
    assert stream(b"data: {}\n\n" * limits.FRAMES).too_large == ""


def test_a_plain_body_may_have_any_number_of_lines() -> None:
    body = b"{" + b"\n" * 50_000 + b"}"
    assert Interaction(files.URI, {}, 200, {"content-type": "application/json"}, body).too_large == ""


def test_an_event_in_many_lines_is_judged(tmp_path: Path) -> None:
    """Gemini's gateways write an event in up to 37 lines."""
    pretty = json.dumps(
        {**files.ANSWER, "choices": [{"index": 0, "finish_reason": "stop", "delta": {"content": "Hi"}}]}, indent=1
    )
    body = "".join(f"data: {line}\n" for line in pretty.splitlines()) + "\ndata: [DONE]\n\n"
    (found,) = bare.recordings(files.bare(tmp_path, headers=EVENTS, body={"string": body}))
    assert isinstance(found, Scenario)
    assert found.expected["stream"].message == "Hi"


@pytest.mark.parametrize(
    "response",
    [
        {"status": {"code": "9" * 5000}},
        {"status": {"code": -1}},
        {"status": {"code": 10**30}},
        {"status": None},
        {"status": []},
        {"headers": {"content-type": [None]}},
        {"headers": [5]},
        {"headers": {"": "", "\0": "\0", "a\r\nb": "c\r\nd"}},
        {"body": {"string": 5}},
        {"body": {"base64_string": "%"}},
        {"body": {"raw_gzip": "aGk="}},
        {"body": {"text": '["zz"]'}},
        {"body": {"text": "a", "encoding": "base64"}},
        {"body": None},
        {"body": {"string": "\ud800"}},
    ],
    ids=range(15),
)
def test_an_odd_response_is_judged_or_has_a_reason(tmp_path: Path, response: Any) -> None:
    (found,) = bare.recordings(files.bare(tmp_path, **response))
    assert isinstance(found, Scenario) or found.why


def test_a_cassette_that_is_no_object_is_refused(tmp_path: Path) -> None:
    for text in ("5", "null", '"interactions":', "[]", '{"interactions": null}'):
        path = tmp_path / "one.yaml"
        path.write_text(text)
        with pytest.raises(BadFileError, match=r"one\.yaml:1: "):
            list(bare.recordings(path))


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        ("1e400", "at /usage/total_tokens: must be an integer or null, and is Infinity"),
        ("NaN", "ValueError('NaN is not JSON')"),
        ("9" * 5000, "ValueError('Exceeds the limit (4300 digits) for integer string conversion"),
    ],
    ids=["1e400", "NaN", "5000 digits"],
)
def test_a_number_that_is_none_is_a_problem_of_the_scenario(tmp_path: Path, number: str, problem: str) -> None:
    cassette = miniature.write(tmp_path).with_name("spider.yaml")
    text = cassette.read_text("utf-8")
    cassette.write_text(text.replace('"total_tokens": 42', f'"total_tokens": {number}'), "utf-8")
    assert cassette.read_text("utf-8") != text
    assert problem in miniature.problems(tmp_path)[0]
