"""Reading a response without an adapter: field paths, facts, and the expected values that follow from them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.scenarios import derive
from llm_conformance.wire import answers, paths, think_tags
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers import table

DOCUMENT = {
    "type": "answer",
    "parts": [{"text": "a", "thought": True}, {"text": "b"}, {"text": "c", "index": 0}],
    "deep": {"list": [{"items": [{"v": 1}, {"v": 2}]}, {"items": [{"v": 3}]}]},
}


@pytest.mark.parametrize(
    ("at", "path", "found"),
    [
        ("", "type", ["answer"]),
        (".[type=answer|other]", "type", ["answer"]),
        (".[type=other]", "type", []),
        ("parts/*", "text", ["a", "b", "c"]),
        ("parts/*[thought=true]", "text", ["a"]),
        ("parts/*[thought!=true]", "text", ["b", "c"]),
        ("parts/*[index=0|null][thought!=true]", "text", ["b", "c"]),
        ("parts/*[index=0]", "/type", ["answer"]),
        ("deep/list/*/items/*", "v", [1, 2, 3]),
        ("deep/list/*/items/*", "#1", [0, 0, 1]),
        ("deep/list/*/items/*", "#2", [0, 1, 0]),
        ("missing|deep", "list", [DOCUMENT["deep"]["list"]]),  # type: ignore[index]
        ("type/*", ".", []),
        ("missing/*", ".", []),
    ],
)
def test_a_path_leads_to_places(at: str, path: str, found: list[Any]) -> None:
    assert [place.find(path) for place in paths.places(DOCUMENT, paths.compiled(at))] == found


def test_the_first_path_with_a_value_counts() -> None:
    place = paths.Place({"a": "", "b": None, "c": 0, "d": "x"}, {})
    assert place.first(["a", "b", "c", "d"]) == 0
    assert place.first(["a", "missing/deeper"]) is None


@pytest.mark.parametrize("at", ["a//b", "/a", "a/", "a[b", "a]", "a[b]"])
def test_a_malformed_path_is_refused(at: str) -> None:
    with pytest.raises(ValueError, match="no such path"):
        paths.compiled(at)


@pytest.mark.parametrize(
    ("profile", "text", "message", "traces"),
    [
        ("off", "<think>a</think>b", "<think>a</think>b", []),
        ("leading", "<think>a</think>\n\nb ", "b ", ["a"]),
        ("leading", "\n<THINK> a \n</Think>b", "b", ["a"]),
        ("leading", "x<think>a</think>b", "x<think>a</think>b", []),
        ("leading", "<think>a</think> <think>b</think>c<think>d</think>", "c<think>d</think>", ["a", "b"]),
        ("leading", "<think>a", "", ["a"]),
        ("leading", "<think>\n\n</think>\n\nb", "b", []),
        ("leading", "<thin\u212a>a</thin\u212a>b", "<thin\u212a>a</thin\u212a>b", []),
        ("prefilled", "a</think>b", "b", ["a"]),
        ("prefilled", "<think>a</think>b", "b", ["a"]),
        ("prefilled", "</think>b", "b", []),
        ("anywhere", "a<think>b</think>c", "ac", ["b"]),
    ],
)
def test_tags_are_split_by_profile(profile: ThinkProfile, text: str, message: str, traces: list[str]) -> None:
    assert think_tags.split(text, profile) == (message, traces)


def test_only_the_tag_of_the_provider_is_one() -> None:
    assert think_tags.split("<Thought>a</thought> <think>b", "leading", "thought") == ("<think>b", ["a"])
    assert think_tags.split("<thought>a</thought>b", "leading") == ("<thought>a</thought>b", [])


def test_a_count_may_be_the_rest_of_the_total() -> None:
    api = table.table()["gemini", "chat"]
    usage = api.normalise({"prompt_tokens": 66, "completion_tokens": 6, "total_tokens": 100})
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (66, 34, 100)
    nonsense = api.normalise({"prompt_tokens": 66, "total_tokens": 6})
    assert nonsense is not None
    assert nonsense.completion_tokens is None


def gemini(*supports: dict[str, Any]) -> answers.WireFacts:
    """Return the facts of a Gemini answer with these grounding supports."""
    body = {
        "candidates": [
            {
                "content": {"parts": [{"text": "hidden", "thought": True}, {"text": "Grün 🦀"}, {"text": " ist gut."}]},
                "finishReason": "STOP",
                "groundingMetadata": {"groundingSupports": supports},
            }
        ],
        "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 9, "thoughtsTokenCount": 5},
    }
    api = table.table()["gemini", "generate"]
    made = Interaction("u", {}, 200, {"content-type": "application/json"}, json.dumps(body).encode())
    return answers.derive(made, api)


@pytest.mark.parametrize(
    ("segment", "span"),
    [
        ({"endIndex": 5}, (0, 4)),
        ({"startIndex": 6, "endIndex": 10}, (5, 6)),
        ({"startIndex": 11, "endIndex": 19}, (7, 15)),
        ({"startIndex": 7, "endIndex": 10}, (None, None)),
        ({"startIndex": 0, "endIndex": 99}, (None, None)),
    ],
)
def test_bytes_become_code_points_of_the_visible_text(segment: dict[str, int], span: tuple[int | None, ...]) -> None:
    api = table.table()["gemini", "generate"]
    expected = derive.expect(gemini({"segment": segment}), api, "off")
    assert expected.message == "Grün 🦀 ist gut."
    assert [(annotation.start, annotation.end) for annotation in expected.annotations] == [span]


def test_what_is_absent_counts_nothing_only_where_the_table_says_so() -> None:
    usage = derive.expect(gemini(), table.table()["gemini", "generate"], "off").usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (4, 5, 9)
    assert (usage.reasoning_tokens, usage.cached_tokens) == (5, None)


def test_a_part_that_does_not_fit_into_its_whole_is_unknown() -> None:
    api = table.table()["openai", "chat"]
    usage = api.normalise(
        {"prompt_tokens": 3, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 9}}
    )
    assert usage is not None
    assert (usage.completion_tokens, usage.total_tokens, usage.reasoning_tokens) == (2, 5, None)


def test_a_call_under_a_stop_may_be_called_either() -> None:
    api = table.table()["openai", "responses"]
    facts = answers.WireFacts(finish="completed", calls={(0, "c"): ["c", "f", ""]})
    assert derive.expect(facts, api, "off").finish_reasons == ("stop", "tool_calls")
    refused = replace(facts, calls={}, refusal="No.")
    assert derive.expect(refused, api, "off").finish_reasons == ("content_filter",)


def test_a_refusal_that_was_cut_off_may_be_called_either() -> None:
    facts = answers.WireFacts(finish="length", refusal="I'm sor")
    expected = derive.expect(facts, table.table()["openai", "chat"], "off")
    assert expected.finish_reasons == ("content_filter", "length")


def pieces(*deltas: list[dict[str, Any]], api: tuple[str, str] = ("local", "chat")) -> list[list[str]]:
    """Return the tool calls of a stream with these deltas of them."""
    choices = [[{"index": 0, "delta": {"tool_calls": each}}] for each in deltas]
    body = "".join(f"data: {json.dumps({'choices': each})}\n\n" for each in choices)
    made = Interaction("u", {}, 200, {"content-type": "text/event-stream"}, body.encode())
    return answers.derive(made, table.table()[api]).tool_calls


def piece(id: str | None, name: str, arguments: str, **index: int) -> dict[str, Any]:
    """Return a piece of a tool call."""
    return {**index, "id": id, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("api", [("local", "chat"), ("cloudflare", "run")])
def test_calls_with_the_same_index_are_distinguished_by_id(api: tuple[str, str]) -> None:
    f, g = ["a", "f", '{"x":1}'], ["b", "g", '{"y":2}']
    whole = piece(*f, index=0), piece(*g, index=0)
    assert pieces([whole[0]], [whole[1]], api=api) == [f, g]
    assert pieces([piece(*f)], [piece(*g)], api=api) == [f, g]
    assert pieces([piece(*f), piece(*g)], api=api) == [f, g]


def test_a_call_may_be_sent_in_its_last_event_alone() -> None:
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"x":1}'}
    added = {"type": "response.output_item.added", "output_index": 1, "item": {**item, "arguments": ""}}
    delta = {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"x":1}'}
    done = {"type": "response.output_item.done", "output_index": 1, "item": item}
    for events in ([done], [added, done], [added, delta, done], [delta, done]):
        body = "".join(f"data: {json.dumps(each)}\n\n" for each in events)
        made = Interaction("u", {}, 200, {"content-type": "text/event-stream"}, body.encode())
        assert answers.derive(made, table.table()["openai", "responses"]).tool_calls == [["c", "f", '{"x":1}']]


def test_pieces_without_an_id_or_with_a_known_one_continue_a_call() -> None:
    starts = [piece("a", "f", "{", index=0)], [piece("b", "g", "[", index=0)]
    assert pieces(*starts, [piece("a", "", "}", index=0)], [piece(None, "", "]", index=0)]) == [
        ["a", "f", "{}"],
        ["b", "g", "[]"],
    ]
    assert pieces([piece(None, "f", "{", index=0)], [piece("a", "", "}", index=0)]) == [["a", "f", "{}"]]


@pytest.mark.parametrize(
    ("span", "place"),
    [
        ((0, 0), (0, 0)),
        ((3, 9), (None, None)),
        ((9, 15), (None, None)),
        ((9, 9), (None, None)),
        ((15, 15), (0, 0)),
        ((9, 16), (0, 1)),
        ((15, 16), (0, 1)),
        ((16, 32), (1, 2)),
        ((20, 24), (None, None)),
        ((17, 32), (1, 2)),
    ],
)
def test_a_span_is_shifted_by_the_think_blocks_before_it(
    span: tuple[int, int], place: tuple[int | None, int | None]
) -> None:
    api = table.table()["local", "chat"]
    link = {"type": "url_citation", "url_citation": {"start_index": span[0], "end_index": span[1]}}
    message = {"content": "<think></think>a<think></think>b", "annotations": [link]}
    body = json.dumps({"choices": [{"index": 0, "message": message}]}).encode()
    facts = answers.derive(Interaction("", {}, 200, {"content-type": "application/json"}, body), api)
    (annotation,) = derive.expect(facts, api, "anywhere").annotations
    assert (annotation.start, annotation.end) == place


@pytest.mark.parametrize(
    ("time", "utc"),
    [
        (1762247560, "2025-11-04T09:12:40Z"),
        (1762247560.75, "2025-11-04T09:12:40Z"),
        ("2025-11-04T09:12:40Z", "2025-11-04T09:12:40Z"),
        ("2025-11-04T10:12:40.123456789+01:00", "2025-11-04T09:12:40Z"),
        ("2025-11-04T09:12:40.5", "2025-11-04T09:12:40Z"),
    ],
)
def test_a_time_is_utc_to_the_second(time: Any, utc: str) -> None:
    assert derive.utc(time) == utc


@pytest.mark.parametrize(
    ("uri", "api", "model", "path"),
    [
        (
            "https://api.cloudflare.com/client/v4/accounts/abc/ai/run/@cf/zai-org/glm-5.2",
            "cloudflare:run",
            "@cf/zai-org/glm-5.2",
            "/ai/run/@cf/zai-org/glm-5.2",
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
            "gemini:generate",
            "gemini-3",
            "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
        ),
        ("https://api.openai.com/v1/responses", "openai:responses", None, "/responses"),
        (
            "https://mine.openai.azure.com/openai/deployments/my-4o/chat/completions?api-version=2024-10-21",
            "azure:chat",
            "my-4o",
            "/openai/deployments/my-4o/chat/completions?api-version=2024-10-21",
        ),
        ("https://mine.openai.azure.com/openai/v1/chat/completions", "azure:chat", None, "/chat/completions"),
    ],
)
def test_a_uri_names_its_api_and_model(uri: str, api: str, model: str | None, path: str) -> None:
    found = table.recognise(uri)
    assert found is not None
    assert (str(found[0]), found[1].model, found[1].path) == (api, model, path)


@pytest.mark.parametrize("uri", ["https://api.openai.com/v1/responses/resp_1", "https://evil.test/v1/responses", ""])
def test_an_unknown_uri_has_no_api(uri: str) -> None:
    assert table.recognise(uri) is None
