"""The lint: a run does not start on a scenario that contradicts its bytes."""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import cassette, lint, load
from llm_conformance.scenarios.cassette import save
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.framings.aws_event_stream import aws_chunk_payload, aws_message
from llm_conformance.yaml_files import BadFileError
from tests import miniature


def test_the_miniature_is_clean(tmp_path: Path) -> None:
    miniature.write(tmp_path)
    assert miniature.problems(tmp_path) == []


def test_the_suite_is_clean_and_large_enough(scenarios: list[Scenario], capsys: pytest.CaptureFixture[str]) -> None:
    """This also sees that `lint.sha256` is up to date. If it is not, `--write` writes it anew."""
    code = lint.main([str(CASSETTES)])
    shown = capsys.readouterr().out
    assert code == 0, shown
    assert shown == f"{len(scenarios)} scenarios, no problem\n"
    assert len(scenarios) >= 35
    assert {f"{scenario.api.provider}:{scenario.api.name}" for scenario in scenarios} >= {
        "anthropic:messages",
        "deepseek:chat",
        "openai:chat",
        "zai:chat",
    }


def test_scenario_files_are_yaml_for_every_loader() -> None:
    """Without libyaml, PyYAML uses its own parser, which is stricter in places."""
    files, _ = load.find(CASSETTES)
    for path in files:
        assert yaml.load(path.read_text("utf-8"), yaml.BaseLoader), path


def signatures(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (each for key, each in value.items() if key in ("signature", "thoughtSignature") and each)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from signatures(each)


def test_signatures_are_base64_as_clients_decode_them() -> None:
    files, _ = load.find(CASSETTES)
    for path in files:
        for interaction in cassette.load(load.cassette_path(path)).interactions:
            text = interaction.body.decode("utf-8", "replace")
            bodies = [text, *(line.removeprefix("data: ") for line in text.splitlines())]
            for body in bodies:
                with contextlib.suppress(ValueError):
                    for signature in signatures(json.loads(body)):
                        assert len(signature) % 4 == 0, path
                        base64.b64decode(signature, validate=True)


@pytest.mark.parametrize(
    ("text", "replacement", "message"),
    [
        ("title:", "mood: good\ntitle:", "mood: no such key"),
        ("title: Reasoning beside the answer\n", "", "`title` is missing"),
        ("provider: deepseek", "provider: acme", "acme:chat: no such API"),
        ("recordings: {", "recording: {", "`recordings` is missing"),
        (
            "recordings: {json: 0, stream: 1, same_content: true}",
            "recordings: none",
            'recordings: must be an object, and is "none"',
        ),
        ("provider: deepseek", "provider: zai", "which is no call of zai:chat in the provider table"),
        ("{json: 0, stream: 1,", "{json: 0, stream: 7,", "no interaction 7; it has 2"),
        ("{json: 0, stream: 1,", "{json: 1, stream: 0,", "is of the other mode"),
        ("stream: 1, same_content: true", "same_content: true", "same_content needs both recordings"),
        ("model: deepseek-reasoner\n  messages", "model: other\n  messages", "is not the recorded request's"),
        ("id: a-1", "id: a-2", 'id: the scenario states "a-2", the bytes give "a-1"'),
        (
            "message: Eight.",
            "message: 'Eight. '",
            'message: the scenario states " ", the bytes give "", at code point 6',
        ),
        (
            "reasoning: Spiders",
            "reasoning: Snails",
            'reasoning: the scenario states "nails are arachnids,", the bytes give "piders are arachnids", at ',
        ),
        ("{type: text, content: Eight.}", "{type: text, content: Nine.}", "do not join to the message"),
        (
            "annotations: []",
            "annotations: [{start: 2, end: 9, text: ght, data: {}}]",
            "(2, 9) is outside the message of 6 code points",
        ),
        ("annotations: []", "annotations: [{start: 0, end: 2, text: xx, data: {}}]", "is 'Ei', not the stated text"),
        (
            "annotations: []",
            "annotations: [{start: 0, end: null, text: null, data: {}}]",
            "have to be all given or all null",
        ),
        (
            "annotations: []",
            "annotations: [{start: 0, end: 2, text: Ei, data: {url: x}}]",
            "annotations: the scenario states 1, the bytes give 0",
        ),
        (
            "annotations: []",
            "attachments: [{id: a, data: aGk=}]",
            'attachments: the scenario states [{"data": "aGk=", "transcript": ""}], the bytes give []',
        ),
        (
            "message: Eight.",
            "message: Eight.\n  refusal: No.",
            'refusal: the scenario states "No.", the bytes give "", at code point 0',
        ),
        (
            "message: Eight.",
            "message: Eight.\n  message_is_json: true",
            "message_is_json: the scenario states true, the bytes give false",
        ),
        (
            "message: Eight.",
            "message: Eight.\n  reasoning_source: tag",
            'reasoning_source: the scenario states "tag", the bytes give "native"',
        ),
        (
            'created: "2025-01-21T17:35:52Z"',
            "created: null",
            'created: the scenario states none, the bytes give "2025-01-21T17:35:52Z"',
        ),
        ("same_content: true}", "same_content: true}\nmatch: [/thinking]", "the recorded request has no /thinking"),
        (
            "tool_calls: []",
            "tool_calls: [{id: a, name: b, arguments: '{}'}]",
            'tool_calls: the scenario states [["a", "b", "{}"]], the bytes give []',
        ),
        ("total_tokens: 42", "total_tokens: 41", "usage.total_tokens: the scenario states 41, the bytes give 42"),
        ("cached_tokens: 0, ", "", "usage.cached_tokens: the scenario states null, the bytes give 0"),
        (
            "finish_reason: stop\n  raw",
            "finish_reason: length\n  raw",
            'finish_reason: the scenario states "length", the bytes give "stop"',
        ),
        ("  raw_finish_reason: stop\n", "", "does not state raw_finish_reason"),
        (
            "raw_finish_reason: stop",
            "raw_finish_reason: [halt, end]",
            'raw_finish_reason: the scenario states "end" or "halt", the bytes give "stop"',
        ),
        ("message: Eight.", "error: TimeoutError", "error: the bytes have no error, and they end properly"),
        ("message: Eight.", "message: Eight.\n  may_raise: [Oops]", "'Oops' is no error class"),
    ],
)
def test_each_mistake_is_named(tmp_path: Path, text: str, replacement: str, message: str) -> None:
    assert text in miniature.SCENARIO
    miniature.write(tmp_path, scenario=miniature.SCENARIO.replace(text, replacement, 1))
    found = miniature.problems(tmp_path)
    assert any(message in problem for problem in found), found
    assert all(problem.startswith("spider.scenario.yaml:") for problem in found)


SEGMENTS = """\
  segments:
  - {type: reasoning, content: "Spiders are arachnids, so not six."}
  - {type: text, content: Eight.}
"""


@pytest.mark.parametrize(("instead", "stated"), [(SEGMENTS, True), ("", True), ("  segments: null\n", False)])
def test_omitted_segments_are_reasoning_and_text(tmp_path: Path, instead: str, stated: bool) -> None:
    assert SEGMENTS in miniature.SCENARIO
    miniature.write(tmp_path, scenario=miniature.SCENARIO.replace(SEGMENTS, instead))
    (scenario,) = lint.load_all([tmp_path])
    for expected in scenario.expected.values():
        assert ("segments" in expected.stated) == stated
        assert [segment.type for segment in expected.segments] == (["reasoning", "text"] if stated else [])


def copied(directory: Path, id: str) -> tuple[Path, dict[str, Any]]:
    """Copy the cassette of a scenario. Return the path and the content of the scenario file to write beside it."""
    source = CASSETTES / f"{id}.scenario.yaml"
    path = directory / "mini" / source.name
    path.parent.mkdir()
    load.cassette_path(path).write_bytes(load.cassette_path(source).read_bytes())
    return path, yaml.safe_load(source.read_text("utf-8"))


def test_segments_in_another_order_cannot_be_omitted(tmp_path: Path) -> None:
    path, document = copied(tmp_path, "avian/text-and-calls-in-turns")
    for stated in (document["expected"], document["expected"].get("stream", {})):
        stated.pop("segments", None)
    path.write_text(json.dumps(document), "utf-8")
    (problem,) = miniature.problems(tmp_path)
    assert "the bytes do not give reasoning, text and tool calls in this order: state `segments`" in problem


@pytest.mark.parametrize(
    ("id", "why"),
    [
        ("ollama/error-in-a-line-of-the-stream", "the error has neither status nor type nor code"),
        ("deepseek/stream-cut-in-the-text", "the bytes end without naming an error"),
        ("openai/responses-error-event-of-a-rate-limit", None),  # a code beside the message
        ("bedrock/throttled-in-mid-stream", None),  # the name of the exception
        ("cloudflare/run-failure-inside-a-200", None),  # a list of errors with codes
        ("groq/error-event-in-mid-stream", None),
    ],
)
def test_the_class_of_an_error_is_stated_only_if_the_bytes_name_one(tmp_path: Path, id: str, why: str | None) -> None:
    path, document = copied(tmp_path, id)
    fault = {key: value for key, value in document["expected"].items() if key == "fault"}
    document["expected"] = {"error": "ServiceUnavailableError", **fault}
    path.write_text(json.dumps(document), "utf-8")
    found = miniature.problems(tmp_path)
    assert len(found) == (why is not None)
    assert all(f"{why}: any is right, which is LLMError" in problem for problem in found)


@pytest.mark.parametrize(
    ("id", "fault", "why"),
    [
        (
            "deepseek/stream-cut-in-the-text",
            "",
            ":1: the stream ends too early and has no error: state `fault: incomplete`",
        ),
        (
            "gemini/error-without-framing",
            "",
            ":1: the stream ends too early and has no error: state `fault: incomplete`",
        ),
        ("groq/stopped-early-said-in-x-groq", "incomplete", ":1: fault: the stream has an error, or ends properly"),
    ],
)
def test_a_stream_that_ends_too_early_is_stated_as_incomplete(tmp_path: Path, id: str, fault: str, why: str) -> None:
    path, document = copied(tmp_path, id)
    document["expected"] = {"error": "LLMError", **({"fault": fault} if fault else {})}
    path.write_text(json.dumps(document), "utf-8")
    assert miniature.problems(tmp_path) == [f"{path.name}{why}"]


@pytest.mark.parametrize(
    ("id", "grounds", "is_refused"),
    [
        ("openai/error-401-repeats-the-key", "probe", False),
        ("openai/error-401-repeats-the-key", "documentation", True),
        ("openai/error-401-masks-the-key", "recording", False),
    ],
)
def test_a_whole_key_is_in_probes_only(tmp_path: Path, id: str, grounds: str, is_refused: bool) -> None:
    source = CASSETTES / f"{id}.scenario.yaml"
    path = tmp_path / "mini" / source.name
    path.parent.mkdir()
    text = load.cassette_path(source).read_text("utf-8")
    load.cassette_path(path).write_text(re.sub("grounds: .*", f"grounds: {grounds}", text), "utf-8")
    path.write_bytes(source.read_bytes())
    found = miniature.problems(tmp_path)
    assert bool(found) == is_refused
    assert all("the response has the whole API key, which providers mask" in problem for problem in found)


@pytest.mark.parametrize(
    ("part", "replacement"),
    [
        ("  metadata:", "  ? [a]\n  : b\n  metadata:"),
        ("body: '{", "body: '[1]' #"),
        ("code: 200", "code: 500"),
        ("- text/event-stream", "- text/event-stréam"),
        ('data: {"id"', 'data: [1]\n\ndata: {"id"'),
        ('"choices": [{', '"choices": [5, {'),
        ('"delta": {', '"delta": "x", "d": {'),
        ("/chat/completions", "/responses"),
    ],
)
def test_a_cassette_of_a_wrong_shape_is_a_problem_and_no_crash(tmp_path: Path, part: str, replacement: str) -> None:
    recorded = miniature.write(tmp_path).with_name("spider.yaml")
    text = recorded.read_text("utf-8")
    recorded.write_text(text.replace(part if part in text else part.replace('\\"', '"'), replacement, 1))
    if recorded.read_text("utf-8") != text:
        assert miniature.problems(tmp_path)


def test_an_orphan_cassette_is_named(tmp_path: Path) -> None:
    recorded = miniature.write(tmp_path).with_name("spider.yaml")
    recorded.with_name("spider.scenario.yaml").unlink()
    assert list(map(str, lint.orphans(tmp_path))) == [
        f"{recorded}:1: orphan cassette: nothing replays it; add spider.scenario.yaml or remove it"
    ]


def test_a_link_that_leads_out_is_named(tmp_path: Path) -> None:
    recorded = miniature.write(tmp_path / "inside").with_name("spider.yaml")
    (tmp_path / "secret.yaml").write_text("password: x")
    recorded.unlink()
    recorded.symlink_to(tmp_path / "secret.yaml")
    found = miniature.problems(tmp_path / "inside")
    assert found == [f"spider.yaml:1: leads out of {tmp_path / 'inside'} or in a circle; put the file itself here"]


def test_a_scenario_without_cassette_is_named(tmp_path: Path) -> None:
    miniature.write(tmp_path).with_name("spider.yaml").unlink()
    assert miniature.problems(tmp_path) == ["spider.scenario.yaml:1: its cassette spider.yaml is missing"]


@pytest.mark.parametrize(
    "secret",
    ["sk-ant-REDACTED", "Bearer abcdefghijklmnop", "someone@gmail.com"],
)
def test_what_looks_like_a_secret_is_named_and_not_repeated(tmp_path: Path, secret: str) -> None:
    recorded = miniature.write(tmp_path).with_name("spider.yaml")
    secret = secret.replace("REDACTED", "api03-" + "a" * 24)
    recorded.write_text(recorded.read_text("utf-8").replace("source: the tests", f"source: the tests {secret}"))
    (found,) = miniature.problems(tmp_path)
    assert found.startswith("spider.yaml:4: this looks like")
    assert secret not in found


CHUNK = {":event-type": "chunk"}
SECRET = "sk-ant-" + "a1B2" * 6


@pytest.mark.parametrize(
    "message",
    [
        aws_message(CHUNK, aws_chunk_payload({}, json.dumps({"text": SECRET}).encode())),
        aws_message(CHUNK, aws_chunk_payload({}, json.dumps({"text": f"{SECRET} cut off"}).encode()))[:-12],
        aws_message(CHUNK, aws_chunk_payload({"p": SECRET}, b"{}")),
        aws_message({":message-type": "error", ":error-message": SECRET}, b""),
        aws_message({":event-type": "a"}, json.dumps({"text": SECRET}).encode()),
    ],
    ids=["base64", "cut off", "beside base64", "header", "payload"],
)
def test_what_looks_like_a_secret_in_a_message_is_named(tmp_path: Path, message: bytes) -> None:
    miniature.write(tmp_path).with_name("spider.yaml").unlink()
    headers = {"content-type": "application/vnd.amazon.eventstream"}
    plain, streamed = miniature.interactions()
    # A byte that is not UTF-8 makes `save` write the body in base64.
    made = replace(streamed, headers=headers, body=message + aws_message({":event-type": "b"}, b"\xff"))
    save(tmp_path / "mini" / "spider.yaml", miniature.PROVENANCE, [plain, made])
    assert SECRET not in (tmp_path / "mini" / "spider.yaml").read_text("utf-8")
    (found,) = (each for each in miniature.problems(tmp_path) if "looks like" in each)
    assert "a message has what looks like an API key" in found
    assert SECRET not in found


def test_the_command_lists_problems_and_says_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    miniature.write(tmp_path).unlink()
    assert lint.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.endswith("1 problem in the scenarios\n")


SECOND_TURN = """\
- {answer_of: spider}
  - {role: user, content: And a beetle?}
recordings: {json: 0}
round_trip:
  source: the provider's documentation
  sent: {/messages/1/reasoning_content: "Spiders are arachnids, so not six."}
"""


@pytest.mark.parametrize(
    ("earlier", "problems"),
    [
        ("nobody", ["there is no nobody.scenario.yaml beside this file"]),
        ("again", ["this answer is one to a conversation that it is part of"]),
        (
            "spider",
            [
                "the recorded request has something else at /messages/1/reasoning_content",
                "the recorded request lacks, or has in another order: Eight.",
            ],
        ),
    ],
)
def test_an_answer_of_has_to_exist_and_to_come_earlier(tmp_path: Path, earlier: str, problems: list[str]) -> None:
    miniature.write(tmp_path)
    turn = SECOND_TURN.replace("spider}", f"{earlier}}}")
    document = miniature.SCENARIO.replace("recordings: {json: 0, stream: 1, same_content: true}\n", "")
    messages = "messages: [{role: user, content: How many legs has a spider?}]"
    assert messages in document
    question = "{role: user, content: How many legs has a spider?}"
    document = document.replace(messages, f"messages:\n  - {question}\n  {turn.rstrip()}")
    path = miniature.write(tmp_path, "again", document)
    with pytest.raises(BadFileError) as bad:
        lint.load_all([tmp_path])
    assert {each.path for each in bad.value.problems} == {path}
    assert sorted(each.message for each in bad.value.problems) == problems


@pytest.mark.parametrize(
    ("fault", "expected", "message"),
    [
        ("{kind: close, after: 9999}", "error: ServiceUnavailableError", "the fault has to come after byte"),
        (
            "{kind: refused, after: 5}",
            "error: ServiceUnavailableError",
            "the fault has to come after byte 0 at the latest",
        ),
        (
            "{kind: silence, after: 0}",
            "error: AuthenticationError",
            "the fault 'silence' must be expected as TimeoutError",
        ),
        (
            "{kind: close, after: 0}",
            "error: TimeoutError",
            "the fault 'close' must be expected as ServiceUnavailableError",
        ),
        (None, "error: ServiceUnavailableError", "`fault` needs `fault: connection` in `expected`, and the reverse"),
    ],
)
def test_an_impossible_fault_is_a_problem(tmp_path: Path, fault: str | None, expected: str, message: str) -> None:
    call, _, _ = miniature.SCENARIO.partition("expected:\n")
    stated = f"fault: {fault}\n" if fault else ""
    miniature.write(tmp_path, scenario=f"{call}{stated}expected:\n  {expected}\n  fault: connection\n")
    assert [each for each in miniature.problems(tmp_path) if message in each]
