"""Bare recordings are judged by their own bytes, as far as the recorder left them intact."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import bare
from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.yaml_files import BadFileError
from tests.bare_cassettes import AI_RUN, CITED, COUNTED, EVENTS, only, scenario, write


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
            "files: no call of a model",
        ),
        (CITED | {"model": None}, {"request": {"body": "{}"}}, "neither the request nor the answer names a model"),
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
    assert expected.reasoning == reasoning  # rules about the message use it, too
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


@pytest.mark.parametrize(
    ("name", "event"),
    [("anthropic/unknown-event", "message_mood"), ("openai/responses-unknown-event", "response.output_sketch.delta")],
)
def test_segments_are_undecided_beside_an_event_of_unknown_type(tmp_path: Path, name: str, event: str) -> None:
    """An adapter may show it, also between two pieces of a text."""
    recorded = (CASSETTES / f"{name}.yaml").read_text("utf-8")
    assert event in recorded
    known = {"anthropic": "ping", "openai": "response.in_progress"}[name.partition("/")[0]]
    path = tmp_path / "one.yaml"
    for text, is_stated in ((recorded, False), (recorded.replace(event, known), True)):
        path.write_text(text, "utf-8")
        assert ("segments" in scenario(path).expected["stream"].stated) is is_stated


def test_ids_that_are_numbers_are_text(tmp_path: Path) -> None:
    assert scenario(write(tmp_path, CITED | {"id": 7})).expected["json"].ids == ("7",)


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
    path.write_text("version: 1\nrecorded: []\n")
    with pytest.raises(BadFileError, match=r"x\.yaml:1: the file: `interactions` is missing"):
        list(bare.recordings(path))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"request": {"body": "[" * 100_000}}, r"another form: maximum recursion depth"),
        ({"request": {"body": ["a"]}}, r"another form: the request body is neither text nor bytes"),
        ({"request": {"parsed_body": {"a": b"b"}}}, r"another form: Object of type bytes is not JSON serializable"),
        ({"response": {"body": {"string": 5}}}, r"another form: the body is neither text nor bytes"),
        ({"response": {"body": None}}, r"response\.body: must be an object, and is null"),
        ({"response": {"headers": {1: ["a"]}}}, r"headers: a key must be a string, and is 1"),
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
