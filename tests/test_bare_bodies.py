"""Bare recordings: bodies that recorders altered or mislabelled, and bodies of a form that the provider table lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance.scenarios import bare, cassette
from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.framings.aws_event_stream import aws_chunk_payload, aws_message
from tests.bare_cassettes import CITED, only, scenario, write
from tests.calls import chunk, sse

STREAM = sse(chunk(content="Grün"), chunk("stop"), "[DONE]")
LINES = [
    {"model": "m", "message": {"content": "Grün"}, "done": False},
    {"model": "m", "done": True, "done_reason": "stop"},
]
OLLAMA = {"uri": "https://ollama.com/api/chat", "body": json.dumps({"model": "m"})}
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-v2"


def typed(content_type: str | None) -> dict[str, Any]:
    """Return the changes to a response that give it another content type."""
    return {"headers": {} if content_type is None else {"Content-Type": [content_type]}}


@pytest.mark.parametrize("content_type", [None, "application/json", "text/plain; charset=utf-8", "REDACTED"])
def test_an_event_stream_is_read_whatever_its_type(tmp_path: Path, content_type: str | None) -> None:
    found = scenario(write(tmp_path, STREAM.decode(), response=typed(content_type)))
    assert found.expected["stream"].message == "Grün"
    assert found.interactions["stream"].headers["content-type"] == "text/event-stream"


def test_lines_are_read_that_are_sent_as_json(tmp_path: Path) -> None:
    body = "".join(f"{json.dumps(line)}\n" for line in LINES)
    found = scenario(write(tmp_path, body, request=OLLAMA, response=typed("application/json; charset=utf-8")))
    assert found.expected["stream"].message == "Grün"


@pytest.mark.parametrize("body", ["<html>\ndata: {}\n\n</html>", json.dumps(CITED, indent=1)])
def test_no_other_body_gets_another_type(tmp_path: Path, body: str) -> None:
    path = write(tmp_path, body, response=typed("text/plain"))
    (recorded,) = cassette.load_bare(path)[1]
    assert not isinstance(recorded, cassette.Unreadable)
    assert recorded.interaction.headers["content-type"] == "text/plain"


@pytest.mark.parametrize(
    ("path", "answer", "response"),
    [
        (f"{BEDROCK}/invoke", {"type": "completion", "completion": " Hi.", "stop_reason": "stop_sequence"}, {}),
        (f"{BEDROCK}/invoke", {"type": "message", "completion": " Hi.", "stop_reason": "stop_sequence"}, {}),
        (
            f"{BEDROCK}/invoke-with-response-stream",
            aws_message(
                {":message-type": "event", ":event-type": "chunk"},
                aws_chunk_payload({}, b'{"type":"completion","completion":" Hi.","stop_reason":null}'),
            ),
            typed("application/vnd.amazon.eventstream"),
        ),
        (
            "https://api.anthropic.com/v1/messages",
            'data: {"type":"completion","completion":" Hi.","stop_reason":null}\n\n',
            typed("text/event-stream"),
        ),
        ("https://api.openai.com/v1/chat/completions", 'data: {"text": "Hi"}\n\n', typed("text/event-stream")),
    ],
)
def test_an_answer_of_an_unknown_form_is_out_of_scope_and_no_error(
    tmp_path: Path, path: str, answer: Any, response: Any
) -> None:
    found = only(write(tmp_path, answer, request={"uri": path}, response=response))
    assert isinstance(found, NotJudged)
    assert "is not of the shape of" in found.why


def test_a_stream_that_breaks_off_before_any_text_is_an_error(tmp_path: Path) -> None:
    body = sse({"id": "a-1", "model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
    found = scenario(write(tmp_path, body.decode(), response=typed("text/event-stream")))
    assert found.expected["stream"].error == "LLMError"


def test_the_answer_names_the_model_if_the_request_does_not(tmp_path: Path) -> None:
    asked = {"uri": "http://localhost:8080/v1/chat/completions", "body": json.dumps({"messages": []})}
    found = scenario(write(tmp_path, CITED, request=asked))
    assert found.model == CITED["model"]


def test_only_a_body_that_was_parsed_counts_as_altered(tmp_path: Path) -> None:
    path = write(tmp_path, CITED)
    document = yaml.safe_load(path.read_text("utf-8"))
    (pair,) = document["interactions"]
    asked = {"method": "POST", "uri": pair["request"]["uri"], "parsed_body": json.loads(pair["request"]["body"])}
    parsed = {"status": {"code": 200}, "headers": {"content-type": ["application/json"]}, "parsed_body": CITED}
    document["interactions"] = [
        {"request": asked, "response": pair["response"]},
        {"request": asked, "response": parsed},
        {
            "request": asked,
            "response": {**pair["response"], **typed("text/event-stream"), "body": {"string": STREAM.decode()}},
        },
    ]
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    claims = {
        each.id: "message" in next(iter(each.expected.values())).stated
        for each in bare.recordings(path)
        if isinstance(each, Scenario)
    }
    assert claims == {"openai/one#0": True, "openai/one#1": False, "openai/one#2": True}


def test_an_answer_that_ended_with_an_error_may_be_raised(tmp_path: Path) -> None:
    answer = json.loads(json.dumps(CITED))
    request = {"uri": "http://localhost:8000/v1/chat/completions"}
    for word, errors in (("stop", set()), ("abort", {"LLMError", "ServiceUnavailableError", "TimeoutError"})):
        answer["choices"][0]["finish_reason"] = word
        answer["choices"][0]["message"]["annotations"] = []
        assert set(scenario(write(tmp_path, answer, request=request)).expected["json"].may_raise) == errors
