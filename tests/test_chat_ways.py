"""The ways of OpenAI-shaped chats are read from hand-written chunks, and drawn for the rows that have them."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from llm_conformance.formats.chat.recogniser import ways_of_a_body, ways_of_a_stream
from llm_conformance.wire import answers as wire_answers
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.table import table
from tests.draws import drawn, interactions
from tools import documents

pytestmark = pytest.mark.usefixtures("same_draw")

API = table()["deepseek", "chat"]


def chunk(delta: dict[str, Any], word: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": word}], **fields}


def call(index: int | None, arguments: str, **fields: Any) -> dict[str, Any]:
    numbered = {} if index is None else {"index": index}
    return chunk({"tool_calls": [{**numbered, **fields, "function": {"arguments": arguments}}]})


ROLE = chunk({"role": "assistant", "content": ""})
TEXT = chunk({"content": "a"})
END = chunk({}, "stop")
USAGE: dict[str, Any] = {"usage": {"prompt_tokens": 1}}


def ways(*chunks: Any) -> set[tuple[str, str]]:
    return {(variation.name, way) for variation, way in ways_of_a_stream(API, chunks)}


@pytest.mark.parametrize(
    ("chunks", "way"),
    [
        ([ROLE, TEXT, END], ("first delta", "role, content empty")),
        ([TEXT, END], ("first delta", "with content, without a role")),
        ([ROLE, chunk({"role": "", "content": "a", "reasoning_content": None}), END],
         ("beside text", "role empty, reasoning_content null")),
        ([ROLE, chunk({"content": ""}), TEXT, END], ("empty deltas", "content empty")),
        ([ROLE, chunk({"content": "a"}, "stop")], ("finish of a stream", "with content")),
        ([ROLE, TEXT, END, END], ("finish of a stream", "twice")),
        ([ROLE, TEXT, DONE], ("finish of a stream", "missing")),
        ([ROLE, TEXT, END, {"choices": [], **USAGE}], ("counts of a stream", "apart")),
        ([ROLE, TEXT, {**END, **USAGE}], ("counts of a stream", "at the finish")),
        ([{**each, **USAGE} for each in (ROLE, TEXT, END)], ("counts of a stream", "always")),
        ([ROLE, TEXT, END, chunk({}, **USAGE)], ("counts of a stream", "after the finish")),
        ([ROLE, call(0, "", id="a"), call(0, "{}"), END], ("pieces of a call", "first without arguments")),
        ([ROLE, call(0, "{}", id="a"), END], ("pieces of a call", "whole")),
        ([ROLE, call(0, "{}", id="a"), call(0, "{}", id="b"), END], ("numbers of calls", "always 0")),
        ([ROLE, call(None, "{}", id="a"), END], ("numbers of calls", "absent")),
        ([ROLE, call(0, "", id="a"), call(0, "{}", id="a", type="function"), END],
         ("later pieces of a call", "id, type")),
        ([ROLE, call(0, "{", id="a"), call(1, "{", id="b"), call(0, "}"), END], ("order of calls", "interleaved")),
    ],
)  # fmt: skip
def test_the_way_of_a_stream(chunks: list[Any], way: tuple[str, str]) -> None:
    assert way in ways(*chunks)
    assert len([name for name, _ in ways(*chunks) if name == way[0]]) == 1


def test_the_ways_of_a_message() -> None:
    message = {"role": "assistant", "content": None, "reasoning_content": "", "tool_calls": [{"id": "a", "index": 0}]}
    found = {
        (variation.name, way) for variation, way in ways_of_a_body(API, {"choices": [{"index": 0, "message": message}]})
    }
    assert {("no text beside calls", "null"), ("no reasoning", "reasoning_content empty"), ("counts", "absent")} < found
    assert {("calls of a message", "numbered"), ("type of a call", "absent")} < found


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize(
    ("api", "feature"),
    [
        ("openai:chat", "refusal"),
        ("perplexity:chat", "message"),
        ("groq:chat", "document_citation"),
        ("groq:chat", "x_groq"),
    ],
)
def test_what_some_rows_have_is_drawn(api: str, feature: str) -> None:
    drawn = [str(each.value) for each in documents.of_generated([api], 120) if each.kind == "event"]
    assert any(f"'{feature}': " in text and f"'{feature}': None" not in text for text in drawn)
    others = (str(each.value) for each in documents.of_generated(["zai:chat"], 20) if each.kind == "event")
    assert not any(f"'{feature}': " in text for text in others)


@pytest.fixture(scope="module")
def openai_chats() -> list[str]:
    return [str(each.value) for each in documents.of_generated(["openai:chat"], 60)]


def test_calls_of_tools_never_end_with_the_word_of_the_legacy_call(openai_chats: list[str]) -> None:
    assert any("'finish_reason': 'tool_calls'" in text for text in openai_chats)
    assert not any("'finish_reason': 'function_call'" in text for text in openai_chats)


def test_arguments_have_their_letters_as_they_are(openai_chats: list[str]) -> None:
    assert any('"ä"' in text for text in openai_chats)
    assert not any("u00e4" in text for text in openai_chats)


def test_other_choices_of_a_stream_end_only_if_the_first_does() -> None:
    ended: dict[str, set[int]] = {}
    for each in documents.of_generated(["local:chat"], 100):
        for choice in each.value.get("choices", ()) if each.kind == "event" else ():
            if choice.get("finish_reason"):
                ended.setdefault(each.scenario, set()).add(choice["index"])
    assert {0, 1} in ended.values()
    assert {1} not in ended.values()


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_gateway_says_the_word_of_the_provider_behind_it_too(mode: Mode) -> None:
    seen: set[tuple[str, str]] = set()
    for scenario in drawn("answers", table()["openrouter", "chat"], mode, 100):
        found = [choice for each in wire_answers.documents(scenario.interactions[mode]) for choice in each["choices"]]
        assert all(bool(choice["finish_reason"]) == bool(choice["native_finish_reason"]) for choice in found)
        (pair,) = {(each["finish_reason"], each["native_finish_reason"]) for each in found if each["finish_reason"]}
        assert set(scenario.expected[mode].raw_finish_reasons) == set(pair)
        seen.add(pair)
    assert {word for word, native in seen if native != word} == {word for word, native in seen} - {"content_filter"}


def test_only_chunks_of_a_spoken_answer_leave_the_finish_word_out() -> None:
    lacking: set[bool] = set()
    for scenario in drawn("answers", table()["openai", "chat"], "stream", 100):
        documents = wire_answers.documents(scenario.interactions["stream"])
        if any("finish_reason" not in choice for each in documents for choice in each["choices"]):
            lacking.add(bool(scenario.expected["stream"].attachments))
    assert lacking == {True}


def test_a_whole_message_beside_a_delta_is_not_mistyped() -> None:
    choices: list[Any] = []
    for interaction in interactions("mistyped", table()["perplexity", "chat"], "stream", 150):
        with contextlib.suppress(json.JSONDecodeError):  # a frame is cut short
            for document in wire_answers.documents(interaction):
                found = document.get("choices") if isinstance(document, dict) else None
                choices.extend(found if isinstance(found, list) else ())
    beside = [each for each in choices if isinstance(each, dict) and isinstance(each.get("delta"), dict)]
    assert beside
    assert all(isinstance(each.get("message", {}), dict) for each in beside)
