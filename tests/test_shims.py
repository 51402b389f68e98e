"""The helpers for adapters of libraries with OpenAI's chat completions copy what is there, and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from llm_conformance.shims import chat
from llm_conformance.shims.native import Answer, fields, keywords, turns
from tests.shell import ROOT

CALL = SimpleNamespace(provider="groq", params={"audio": {"format": "mp3"}}, messages=[])
CITATION = {"type": "url_citation", "url_citation": {"url": "https://example.org/a", "start_index": 2, "end_index": 5}}
USAGE = {
    "prompt_tokens": 7,
    "completion_tokens": 9,
    "total_tokens": 16,
    "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": None, "cache_creation_tokens": 3},
    "completion_tokens_details": {"reasoning_tokens": 4, "audio_tokens": 2},
}


class Native:
    """An object as pydantic's are: attributes, and a method that returns them as a mapping."""

    def __init__(self, **own: Any) -> None:
        self.__dict__ |= own

    def model_dump(self) -> dict[str, Any]:
        return dict(self.__dict__)


def completion(finish: str | None = "stop", **message: Any) -> Any:
    """Return a chat completion with one choice."""
    choice = Native(index=0, finish_reason=finish, message=Native(**{"role": "assistant", "content": None, **message}))
    return Native(id="c1", model="m", created=1790000000, choices=[choice], usage=USAGE)


def test_a_completion_is_copied() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    free = {"id": "call_2", "type": "custom", "custom": {"name": "g", "input": "text"}}
    empty = {"id": "", "type": "function", "function": {"name": "h", "arguments": ""}}
    native = completion(
        "tool_calls", content="Häh 🦀", reasoning="so", annotations=[CITATION], tool_calls=[call, free, empty]
    )
    answer = chat.answer(native, CALL)
    assert answer["message"] == "Häh 🦀"
    assert answer["reasoning"] == "so"
    assert answer["annotations"] == [
        {"start": 2, "end": 5, "data": {"type": "url_citation", "url": "https://example.org/a"}}
    ]
    assert answer["tool_calls"] == [
        {"id": "call_1", "name": "f", "arguments": '{"a": 1}'},
        {"id": "call_2", "name": "g", "arguments": "text", "type": "custom"},
        {"id": None, "name": "h", "arguments": "{}"},
    ]
    assert (answer["id"], answer["model"], answer["provider"]) == ("c1", "m", "groq")
    assert (answer["finish_reason"], answer["raw_finish_reason"]) == ("tool_calls", "tool_calls")
    assert answer["created"] == "2026-09-21T14:13:20+00:00"
    assert (answer.native, answer.turn) == (native, native.choices[0].message)


def test_counts_that_are_not_there_are_none() -> None:
    assert chat.counts(None) is None
    few = chat.counts({"prompt_tokens": 1})
    assert few == {**dict.fromkeys(few or ()), "prompt_tokens": 1, "raw": {"prompt_tokens": 1}}
    counted = chat.counts(USAGE)
    assert counted is not None
    assert (counted["cached_tokens"], counted["cache_write_tokens"]) == (0, 3)
    assert (counted["reasoning_tokens"], counted["audio_completion_tokens"], counted["audio_prompt_tokens"]) == (
        4,
        2,
        None,
    )


def test_an_unknown_finish_word_and_an_unnamed_field_of_reasoning_are_not_guessed() -> None:
    answer = chat.answer(completion("abort", thoughts="hm", reasoning="so"), CALL, reasoning=("thoughts",))
    assert (answer["finish_reason"], answer["raw_finish_reason"], answer["reasoning"]) == (None, "abort", "hm")
    assert chat.answer(completion("abort"), CALL, finish={"abort": "error"})["finish_reason"] == "error"


def test_a_refusal_is_a_segment_and_no_text() -> None:
    answer = chat.answer(completion(refusal="No."), CALL)
    assert (answer["message"], answer["finish_reason"]) == ("", "content_filter")
    assert chat.segments(answer, "No.") == [{"type": "other", "content": "No.", "metadata": {"kind": "refusal"}}]


def test_only_the_request_says_the_type_of_audio() -> None:
    sound = {"id": "a1", "data": "AA==", "transcript": "ja"}
    assert chat.answer(completion(audio=sound), CALL)["attachments"] == [{"type": "audio/mpeg", **sound}]
    unsaid = SimpleNamespace(**{**vars(CALL), "params": {}})
    assert chat.answer(completion(audio=sound), unsaid)["attachments"][0]["type"] is None


@pytest.mark.parametrize("native", [Native(id="c1", choices=[]), Native(choices=[Native(message={})])])
def test_an_answer_without_choice_or_id_is_no_answer(native: Native) -> None:
    with pytest.raises(LookupError):
        chat.answer(native, CALL)


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> Native:
    """Return a chunk of a stream."""
    return Native(
        id="c1", model="m", created=None, usage=None, choices=[Native(index=index, finish_reason=finish, delta=delta)]
    )


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    def piece(id: str | None, arguments: str, index: float | None = 0) -> dict[str, Any]:
        return {"index": index, "id": id, "function": {"name": id and "f", "arguments": arguments}}

    folded = chat.Fold(CALL)
    pieces = [
        piece("a", "{"),
        piece("a", "}"),
        piece("b", "["),
        piece(None, "]"),
        piece("c", "1", 2.0),
        piece(None, "2", 2),
    ]
    events = [event for each in pieces for event in folded.add(chunk(tool_calls=[each]))]
    assert [(each["tool_call"]["index"], each["delta"]) for each in events] == [
        *[(0, "{"), (0, "}"), (1, "["), (1, "]"), (2, "1"), (2, "2")],
    ]
    assert all(type(each["tool_call"]["index"]) is int for each in events)
    calls = folded.end()[0]["response"]["tool_calls"]
    assert [(each["id"], each["arguments"]) for each in calls] == [("a", "{}"), ("b", "[]"), ("c", "12")]


def test_chunks_are_folded() -> None:
    folded = chat.Fold(CALL)
    head = {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": ""}}
    tail = {"index": 0, "id": None, "function": {"name": None, "arguments": '{"a": 1}'}}
    chunks = [
        chunk(reasoning_content="so"),
        chunk(content="Hä"),
        chunk(content="other", index=1),
        chunk(content="h", annotations=[CITATION]),
        chunk(tool_calls=[head]),
        chunk("tool_calls", tool_calls=[tail]),
        {"id": "c1", "choices": [], "usage": USAGE},
    ]
    events = [event for each in chunks for event in folded.add(each)]
    assert [each.get("delta") for each in events] == ["so", "Hä", "h", "", '{"a": 1}']
    assert [each["tool_call"]["name"] for each in events if "tool_call" in each] == ["f", None]
    [last] = folded.end()
    answer = last["response"]
    assert (answer["message"], answer["reasoning"], len(answer["annotations"])) == ("Häh", "so", 1)
    assert answer["tool_calls"] == [{"id": "call_1", "name": "f", "arguments": '{"a": 1}'}]
    assert (answer["raw_finish_reason"], answer["usage"]["total_tokens"]) == ("tool_calls", 16)
    assert answer.native == chunks
    assert answer.turn["content"] == "Häh"
    assert answer.turn["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": 1}'}


def test_a_stream_without_chunks_has_no_answer() -> None:
    assert chat.Fold(CALL).end() == []


def test_a_stream_without_an_end_has_no_finish_word() -> None:
    folded = chat.Fold(CALL)
    folded.add(chunk(content="Hä"))
    assert folded.end()[0]["response"]["finish_reason"] is None


def test_offsets_are_kept_together() -> None:
    assert chat.annotation({"type": "file", "start_index": 4}) == {"start": None, "end": None, "data": {"type": "file"}}
    assert chat.annotation({"start_index": 4, "end_index": 6, "url": None}, base=10) == {
        "start": 14,
        "end": 16,
        "data": {},
    }


def test_offsets_that_point_outside_of_the_text_are_no_place() -> None:
    inside, outside = ({"start_index": 4, "end_index": end} for end in (6, 7))
    assert chat.annotation(inside, base=10, length=6)["end"] == 16
    assert chat.annotation(outside, base=10, length=6) == {"start": None, "end": None, "data": {}}


def test_claude_s_choice_of_a_tool_has_openai_s_form() -> None:
    assert chat.tool_choice({"type": "any"}) == "required"
    assert chat.tool_choice({"type": "none"}) == "none"
    named = chat.tool_choice({"type": "tool", "name": "f"})
    assert named == {"type": "function", "function": {"name": "f"}}
    with pytest.raises(NotImplementedError, match="disable_parallel_tool_use"):
        chat.tool_choice({"type": "auto", "disable_parallel_tool_use": True})


def test_an_earlier_answer_is_the_library_s_own_turn() -> None:
    answer = Answer()
    answer.turn = {"role": "assistant"}
    assert turns(SimpleNamespace(messages=[{"role": "user"}, answer])) == [{"role": "user"}, {"role": "assistant"}]


def test_parameters_that_a_method_does_not_name_are_in_its_body() -> None:
    def create(*, model: str, temperature: float, extra_body: object = None) -> None: ...

    assert keywords(create, {"temperature": 0, "top_k": 5}) == {"temperature": 0, "extra_body": {"top_k": 5}}
    assert keywords(create, {"temperature": 0}) == {"temperature": 0}


def test_fields_are_read_from_what_says_them() -> None:
    @dataclass
    class Own:
        a: int = 1

    assert fields(Own()) == fields({"a": 1}) == fields(Native(a=1)) == {"a": 1}
    with pytest.raises(TypeError, match="int has no fields that can be read"):
        fields(1)


ANSWERS: list[dict[str, Any]] = [
    {"content": "Häh 🦀", "reasoning": "so", "annotations": [CITATION], "refusal": None},
    {"content": "Häh 🦀", "annotations": [{**CITATION, "start_index": 2, "end_index": 50}]},
    {"content": None, "refusal": "No."},
    {"content": "", "reasoning_content": "", "function_call": {"name": "f", "arguments": "{}"}},
    {
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"id": "call_2", "type": "custom", "custom": {"name": "g", "input": "text"}},
            {"id": "", "type": "function", "function": {"name": "h", "arguments": ""}},
        ],
    },
    {"content": None, "audio": {"id": "a", "data": "AA==", "transcript": "Hi", "expires_at": 1}},
]
DELTAS: list[dict[str, Any]] = [
    {"content": "Häh", "reasoning": "so"},
    {"content": "", "function_call": {"name": "f", "arguments": "{"}},
    {"tool_calls": [{"index": 1, "id": "call_1", "function": {"name": "f", "arguments": "{"}}]},
    {"tool_calls": [{"index": 0, "id": "", "custom": {"name": "g", "input": "te"}}]},
    {"audio": {"id": "a"}},
]


def test_the_helpers_in_javascript_give_what_those_in_python_give() -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    completions: list[dict[str, Any]] = [
        {
            "id": "c1",
            "model": "m",
            "created": created,
            "usage": usage,
            "choices": [{"message": said, "finish_reason": word}],
        }
        for said in ANSWERS
        for created, usage, word in ((1790000000, USAGE, "tool_calls"), (None, None, "eos"))
    ]
    call = SimpleNamespace(provider="groq", params={"audio": {"format": "mp3"}})
    expected = []
    for each in completions:
        made = chat.answer(each, call)
        segments = chat.segments(made, each["choices"][0]["message"].get("refusal"))
        expected.append({**made, "segments": segments})
    program = f"""
        import {{ answer, deltas }} from "{(ROOT / "peers" / "chat.mjs").as_uri()}";
        const [completions, call, pieces] = JSON.parse(process.argv[1]);
        const answers = completions.map((each) => answer(each, call));
        console.log(JSON.stringify([answers, pieces.flatMap((each) => [...deltas(each)])]));
    """
    given = json.dumps([completions, vars(call), DELTAS])
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program, given], capture_output=True, text=True, check=True
    )
    answers, events = json.loads(done.stdout)
    assert [_plain(each) for each in answers] == [_plain(each) for each in expected]
    assert [_plain(each) for each in events] == [_plain(event) for each in DELTAS for event in chat.deltas(each)]


def _plain(value: Any) -> Any:
    """Return a value without what the two write differently: nulls, the type of functions, and the forms of times."""
    if isinstance(value, dict):
        kept = {name: each for name, each in value.items() if each is not None and (name, each) != ("type", "function")}
        return {name: _plain(each) for name, each in kept.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.replace("+00:00", "").replace(".000Z", "") if isinstance(value, str) else value
