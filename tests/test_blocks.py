"""The segments of bare recordings: the blocks of an answer, with signatures, and those whose type nobody knows."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.reports import files
from llm_conformance.rules.segments import opaque_data, outline
from llm_conformance.scenarios.bare_expected import with_segments
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire import think_tags
from llm_conformance.wire.interaction import Mode
from tests import inline, miniature
from tests.bare_cassettes import CITED, EVENTS, scenario, write

TEXT = {"type": "text", "text": "Eight."}
THOUGHT = {"type": "thinking", "thinking": "Spiders.", "signature": "c2VhbA=="}
REQUEST = {"model": "claude-sonnet-4-6", "max_tokens": 9, "messages": [{"role": "user", "content": "Legs?"}]}
ANTHROPIC = {"uri": "https://api.anthropic.com/v1/messages", "body": json.dumps(REQUEST)}


def message(*content: Any, **changes: Any) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": 4}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6"}
    return {**head, "content": list(content), "stop_reason": "end_turn", "usage": usage, **changes}


def streamed(*content: Any) -> str:
    """Return the answer as a stream, with each text in two pieces."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message(stop_reason=None)}]
    for index, block in enumerate(content):
        start = {key: "" if key in ("text", "thinking", "signature") else value for key, value in block.items()}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        for name in (each for each in ("text", "thinking", "signature") if each in block):
            pieces = [block[name]] if name == "signature" else [block[name][:2], block[name][2:]]
            deltas = ({"type": f"{name}_delta", name: piece} for piece in pieces)
            events += ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events.append({"type": "content_block_stop", "index": index})
    end = {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}}
    events += [{"type": "message_delta", **end}, {"type": "message_stop"}]
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)


def of_claude(directory: Path, mode: Mode, *content: Any, **changes: Any) -> Expected:
    if mode == "json":
        path = write(directory, message(*content), request=ANTHROPIC, **changes)
    else:
        path = write(directory, streamed(*content), request=ANTHROPIC, response=EVENTS, **changes)
    return scenario(path).expected[mode]


def test_the_blocks_of_scenarios_are_the_segments_that_they_state(scenarios: list[Scenario]) -> None:
    compared: Counter[str] = Counter()
    for each in scenarios:
        for mode, stated in each.expected.items():
            without = dataclasses.replace(stated, segments=(), stated=stated.stated - {"segments"})
            derived = with_segments(without, each.interactions[mode], each.api) if stated.error is None else without
            if {"segments"} <= stated.stated & derived.stated:
                # Opaque data of chat completions are not derived. The rule then skips segments that have only these.
                sealed = each.api.wire != "chat"
                shapes = [outline(of.segments, empty=sealed) for of in (derived, stated)]
                opaque = [[opaque_data(one) for one in of.segments if opaque_data(one)[1]] for of in (derived, stated)]
                assert shapes[0] == shapes[1], (each.id, mode)
                assert not sealed or opaque[0] == opaque[1], (each.id, mode)
                compared[each.api.wire] += 1
    assert set(compared) == {"chat", "converse", "gemini", "messages", "responses"}
    assert min(compared.values()) > 15


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>a</think>b", True),
        (" <THINK>a", True),
        ("a</think>b", True),
        ("b <think>a</think>", False),
        ("<think>a</think><think>a</think>b", False),
        ("b", False),
    ],
)
def test_one_leading_block_of_thinking_is_told_from_others(text: str, expected: bool) -> None:
    assert think_tags.has_only_a_leading_block(text) is expected


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_signature_is_on_its_block(tmp_path: Path, mode: Mode) -> None:
    sealed = {"type": "redacted_thinking", "data": "cmVk"}
    expected = of_claude(tmp_path, mode, THOUGHT, sealed, TEXT)
    assert "segments" in expected.stated
    assert [opaque_data(each) for each in expected.segments] == [
        ("reasoning", {"signature": "c2VhbA=="}),
        ("reasoning", {"redacted": "cmVk"}),
        ("text", {}),
    ]


@pytest.mark.parametrize(("again", "opaque"), [("c2VhbA==", [{"encrypted": "c2VhbA=="}]), ("YW5ldw==", [{}])])
def test_reasoning_that_the_last_event_seals_anew_has_no_expected_seal(
    tmp_path: Path, again: str, opaque: list[dict[str, str]]
) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "So."}]}
    part = {"type": "output_text", "text": "Eight.", "annotations": []}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    head = {"id": "resp_1", "object": "response", "model": "gpt-5", "created_at": 1762251160}
    output = [{**thought, "encrypted_content": again}, said]
    events: list[dict[str, Any]] = [
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "So."},
        {"type": "response.output_item.done", "output_index": 0, "item": {**thought, "encrypted_content": "c2VhbA=="}},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Eight."},
        {"type": "response.output_item.done", "output_index": 1, "item": said},
        {"type": "response.completed", "response": {**head, "status": "completed", "output": output}},
    ]
    body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    request = {
        "uri": "https://api.openai.com/v1/responses",
        "body": json.dumps({"model": "gpt-5", "input": "Legs?", "stream": True}),
    }
    expected = scenario(write(tmp_path, body, request=request, response=EVENTS)).expected["stream"]
    assert [opaque_data(each)[1] for each in expected.segments if each.type == "reasoning"] == opaque


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_block_of_unknown_type_is_to_be_shown_or_refused(tmp_path: Path, mode: Mode) -> None:
    expected = of_claude(tmp_path, mode, THOUGHT, {"type": "quantum_block", "spin": 1}, TEXT)
    assert (expected.unknown, expected.beside_unknown) == ("quantum_block", 2)
    assert expected.may_raise == ("ValidationError", "LLMError")
    assert "segments" not in expected.stated


def test_segments_that_the_bytes_do_not_decide_are_not_expected(tmp_path: Path) -> None:
    altered = of_claude(tmp_path, "json", TEXT, metadata={"fidelity": "json-asciified"})
    assert "segments" not in altered.stated
    assert (
        "segments"
        not in scenario(write(tmp_path, CITED | {"search_results": [{"url": "http://a.test"}]})).expected["json"].stated
    )
    parts = [{"text": "One. "}, {"text": "Two."}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    gemini = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:"
    request = {"body": json.dumps({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]})}
    plain = scenario(
        write(tmp_path, {"candidates": [candidate]}, request=request | {"uri": f"{gemini}generateContent"})
    ).expected["json"]
    assert [each.content for each in plain.segments] == ["One. ", "Two."]
    image = {"inlineData": {"mimeType": "image/png", "data": "aQ=="}}
    picture = {"candidates": [candidate | {"content": {"role": "model", "parts": [*parts, image]}}]}
    drawn = write(tmp_path, picture, request=request | {"uri": f"{gemini}generateContent"})
    assert not {"segments"} & scenario(drawn).expected["json"].stated
    assert scenario(drawn).expected["json"].unknown is None
    body = f"data: {json.dumps({'candidates': [candidate]})}\n\n"
    stream = {"uri": f"{gemini}streamGenerateContent?alt=sse"}
    assert (
        "segments"
        not in scenario(write(tmp_path, body, request=request | stream, response=EVENTS)).expected["stream"].stated
    )


DROPPING = """
from dataclasses import replace

from adapters import ReferenceAdapters

class Dropping(ReferenceAdapters):
    def parse_stream(self, chunks, call):
        for event in super().parse_stream(chunks, call):
            yield event if event.response is None else replace(event, response=self.without(event.response))

class Signatures(Dropping):
    def without(self, response):
        return replace(response, segments=[replace(each, metadata={}) for each in response.segments])

class Order(Dropping):
    def without(self, response):
        return replace(response, segments=response.segments[::-1])

class Unknown(Dropping):
    def parse_stream(self, chunks, call):
        yield from (replace(each, segments=[]) for each in super().parse_stream(chunks, call))

    def without(self, response):
        return replace(response, segments=[each for each in response.segments if each.type != "other"])
"""


@pytest.mark.parametrize(
    ("adapter", "red"),
    [("Signatures", {"RSN-4"}), ("Order", {"RSN-3"}), ("Unknown", {"STR-5"}), ("ReferenceAdapters", set())],
)
def test_rules_judge_the_blocks_of_bare_recordings(pytester: pytest.Pytester, adapter: str, red: set[str]) -> None:
    for name, blocks in {"known": (THOUGHT, TEXT), "unknown": (TEXT, {"type": "quantum_block", "spin": 1})}.items():
        write(pytester.path / "more", streamed(*blocks), name, request=ANTHROPIC, response=EVENTS)
    pytester.makepyfile(acme=DROPPING)
    report = pytester.path / "report.json"
    inline.run(
        pytester,
        str(miniature.RULES),
        f"--adapter=acme:{adapter}",
        f"--conformance-cassettes={pytester.path / 'more'}",
        "--conformance-scenario=openai/*known",
        "--conformance-method=parse_stream",
        f"--conformance-report={report}",
    )
    results = files.read(report)["results"]
    assert {each["rule"] for each in results if each["status"] == "fail"} == red
    assert {"RSN-3", "RSN-4", "STR-5"} <= {each["rule"] for each in results if each["status"] in ("pass", "fail")}
