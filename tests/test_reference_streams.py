"""The reference adapters read streams regardless of how they are framed and cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
import respx

from llm_conformance import contract
from llm_conformance.contract import Call, Usage
from tests.calls import ADAPTERS, CHAT_URL, KEY, chat, chunk, completed, messages, read_stream, responses, sse

MESSAGE = "Zwölf 🦊\u2028e\u0301 <b>\r\n"
PLAIN = sse(chunk(role="assistant"), chunk(content=MESSAGE[:8]), chunk(content=MESSAGE[8:]), chunk("stop"), "[DONE]")
INDENTED = json.dumps(chunk("stop", content=MESSAGE), ensure_ascii=False, indent=1).replace("\n", "\ndata: ")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PLAIN, id="usual"),
        pytest.param(PLAIN.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(PLAIN.replace(b"\n", b"\r"), id="CR"),
        pytest.param(b": hello\n\n" + PLAIN.replace(b"data:", b": keep-alive\ndata:"), id="comments"),
        pytest.param(PLAIN.replace(b"data:", b"id: 7\nretry: 9\nnew: x\nevent: message\ndata:"), id="other fields"),
        pytest.param(PLAIN.replace(b"data: ", b"data:"), id="no space"),
        pytest.param(PLAIN.removesuffix(b"\n\n"), id="no newline at the end"),
        pytest.param(PLAIN.removesuffix(b"\n"), id="no empty line at the end"),
        pytest.param(sse(INDENTED, "[DONE]"), id="data over several lines"),
        pytest.param(PLAIN.removesuffix(sse("[DONE]")), id="no end marker"),
    ],
)
def test_the_frame_is_not_the_answer_however_it_is_cut(body: bytes) -> None:
    assert "\u2028".encode() in body
    assert completed(chat(), [body]).message == MESSAGE
    assert completed(chat(), (bytes([byte]) for byte in body)).message == MESSAGE
    for at in range(1, len(body)):
        assert completed(chat(), [body[:at], body[at:]]).message == MESSAGE


def test_a_cut_inside_a_character_goes_unnoticed_over_http(respx_mock: respx.MockRouter) -> None:
    at = PLAIN.index("🦊".encode()) + 2
    respx_mock.post(CHAT_URL).mock(return_value=httpx.Response(200, content=iter([PLAIN[:at], PLAIN[at:]])))
    events = list(ADAPTERS.stream(chat(stream=True)))
    assert "".join(event.delta or "" for event in events) == MESSAGE
    assert [event.event_type for event in events].count("response.completed") == 1


def test_a_delta_is_yielded_before_the_next_frame_is_read() -> None:
    unread = iter([sse(chunk(content="A")), sse(chunk(content="B")), sse(chunk("stop"))])
    events = iter(ADAPTERS.parse_stream(unread, chat()))
    assert next(events).delta == "A"
    assert len(list(unread)) == 2


@pytest.mark.parametrize(
    ("make", "frames"),
    [
        (chat, [chunk(content="Hal")]),
        (messages, [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hal"}}]),
    ],
)
@pytest.mark.parametrize("error", [None, {"type": "error", "error": {"message": "gone", "code": 503}}])
def test_a_stream_that_breaks_off_never_completes(
    make: Callable[..., Call], frames: list[object], error: object
) -> None:
    events, ended_in = read_stream(make(), [sse(*frames, *([error] if error else []))])
    assert [(event.event_type, event.delta) for event in events] == [("response.output_text.delta", "Hal")]
    assert type(ended_in) is contract.ServiceUnavailableError


def test_a_frame_cut_short_is_a_validation_error() -> None:
    _, ended_in = read_stream(chat(), [sse(chunk(content="Hal")), sse(chunk("stop"))[:-20]])
    assert type(ended_in) is contract.ValidationError


def test_an_end_marker_alone_ends_a_stream_without_a_finish_reason() -> None:
    response = completed(chat(), [sse(chunk(content="Hi"), "[DONE]")])
    assert (response.message, response.finish_reason, response.raw_finish_reason) == ("Hi", None, None)


def test_reading_goes_on_after_a_finish_reason() -> None:
    usage = {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3}
    last = {"id": "a-1", "choices": [], "usage": usage}
    response = completed(chat(), [sse(chunk("length", content="A"), chunk("stop", content="B"), last, "[DONE]")])
    assert (response.message, response.finish_reason) == ("AB", "stop")
    assert response.usage == Usage(prompt_tokens=2, completion_tokens=1, total_tokens=3, raw=usage)


def test_pieces_of_tool_calls_may_interleave() -> None:
    def piece(index: int, arguments: str, **named: Any) -> dict[str, Any]:
        return chunk(tool_calls=[{"index": index, "function": {"arguments": arguments, **named}, "id": f"t-{index}"}])

    frames = [piece(0, "", name="f"), piece(1, '{"b', name="g"), piece(0, '{"a"'), piece(1, '":2}'), piece(0, ":1}")]
    events, _ = read_stream(chat(), [sse(*frames, chunk("tool_calls"))])
    response = events[-1].response
    assert response is not None
    calls = [(call.id, call.name, call.arguments) for call in response.tool_calls]
    assert calls == [("t-0", "f", '{"a":1}'), ("t-1", "g", '{"b":2}')]
    deltas = [(event.tool_call.index, event.delta) for event in events if event.tool_call]
    assert deltas == [(0, ""), (1, '{"b'), (0, '{"a"'), (1, '":2}'), (0, ":1}")]


def test_tool_calls_with_the_same_index_are_distinguished_by_id() -> None:
    def whole(id: str, name: str, **index: int) -> dict[str, Any]:
        return {**index, "id": id, "function": {"name": name, "arguments": "{}"}}

    for f, g in ((whole("a", "f", index=0), whole("b", "g", index=0)), (whole("a", "f"), whole("b", "g"))):
        for frames in ([chunk(tool_calls=[f]), chunk(tool_calls=[g])], [chunk(tool_calls=[f, g])]):
            response = completed(chat(), [sse(*frames, chunk("tool_calls"))])
            assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == [
                ("a", "f", "{}"),
                ("b", "g", "{}"),
            ]


def test_a_tool_call_may_come_whole_in_its_last_event() -> None:
    item = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": '{"x":1}'}
    added = {"type": "response.output_item.added", "output_index": 1, "item": {**item, "arguments": ""}}
    delta = {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"x":1}'}
    done = {"type": "response.output_item.done", "output_index": 1, "item": item}
    whole = {"object": "response", "id": "r", "status": "completed", "output": [item]}
    for events in ([done], [added, done], [added, delta, done], [delta, done]):
        response = completed(responses(), [sse(*events, {"type": "response.completed", "response": whole})])
        assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == [("c", "f", '{"x":1}')]


def test_blocks_of_tool_input_may_interleave() -> None:
    def start(index: int, name: str) -> dict[str, Any]:
        block = {"type": "tool_use", "id": f"t-{index}", "name": name, "input": {}}
        return {"type": "content_block_start", "index": index, "content_block": block}

    def piece(index: int, text: str) -> dict[str, Any]:
        delta = {"type": "input_json_delta", "partial_json": text}
        return {"type": "content_block_delta", "index": index, "delta": delta}

    frames = [start(1, "f"), start(2, "g"), piece(2, '{"b":'), piece(1, '{"a":1}'), piece(2, "2}"), start(3, "h")]
    response = completed(messages(), [sse(*frames, {"type": "message_stop"})])
    calls = [(call.id, call.name, call.arguments) for call in response.tool_calls]
    assert calls == [("t-1", "f", '{"a":1}'), ("t-2", "g", '{"b":2}'), ("t-3", "h", "{}")]


CACHED = {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1}
N = None
# Expected: prompt, completion, total, cached, written to the cache, reasoning.
USAGE: dict[str, tuple[Any, list[Any], tuple[int | None, ...] | None]] = {
    "input comes first, output last": ({"input_tokens": 10}, [{"output_tokens": 7}], (10, 7, 17, N, N, N)),
    "the prompt includes its cached parts": (CACHED, [{"output_tokens": 7}], (18, 7, 25, 5, 3, N)),
    "counts are cumulative": (CACHED, [{"output_tokens": 4}, {"output_tokens": 7}], (18, 7, 25, 5, 3, N)),
    "null does not reset a count": (CACHED, [dict.fromkeys(CACHED), None], (18, 1, 19, 5, 3, N)),
    "0 is a count": (dict.fromkeys(CACHED, 0), [], (0, 0, 0, 0, 0, N)),
    "thinking is output": (CACHED, [{"output_tokens_details": {"thinking_tokens": 1}}], (18, 1, 19, 5, 3, 1)),
    "a missing count gives no total": (None, [{"output_tokens": 7}], (N, 7, N, N, N, N)),
    "nothing is reported": (None, [None], None),
}


@pytest.mark.parametrize(("start", "deltas", "counts"), USAGE.values(), ids=USAGE)
def test_usage_folds_over_a_stream(start: object, deltas: list[object], counts: tuple[int | None, ...] | None) -> None:
    began = {"type": "message_start", "message": {"id": "a-1", "usage": start}}
    frames = [{"type": "message_delta", "delta": {}, "usage": usage} for usage in deltas]
    usage = completed(messages(), [sse(began, {"type": "ping"}, *frames, {"type": "message_stop"})]).usage
    totals = usage and (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
    parts = usage and (usage.cached_tokens, usage.cache_write_tokens, usage.reasoning_tokens)
    assert (totals, parts) == (counts and counts[:3], counts and counts[3:])


def test_a_byte_order_mark_is_ignored() -> None:
    assert completed(chat(), [b"\xef\xbb", b"\xbf" + PLAIN]).message == MESSAGE


def test_text_held_back_before_native_reasoning_is_not_lost() -> None:
    body = sse(chunk(content="<thi"), chunk(reasoning_content="r"), chunk("stop", content="nk> A"), "[DONE]")
    response = completed(chat("deepseek", think_profile="leading"), [body])
    assert (response.message, response.reasoning) == ("<think> A", "r")


@pytest.mark.parametrize(
    "annotation",
    [
        {"type": "file_citation", "file_id": "file-1", "index": 2},
        {"type": "file_citation", "index": 2, "file_citation": {"file_id": "file-1"}},
    ],
)
def test_a_citation_keeps_its_fields_flat_or_nested(annotation: dict[str, Any]) -> None:
    response = completed(chat(stream=True), [sse(chunk("stop", content="Hello", annotations=[annotation]), "[DONE]")])
    (found,) = response.annotations
    assert (found.start, found.end) == (None, None)
    assert found.data == {"type": "file_citation", "file_id": "file-1", "index": 2}


def test_the_body_of_an_error_status_is_not_read_as_a_stream() -> None:
    http = contract.HttpResponse(429, {"content-type": "application/json"})
    with pytest.raises(contract.RateLimitError, match="slower"):
        list(
            ADAPTERS.parse_stream([b'{"error": ', b'{"message": "slower"}}'], chat("deepseek", stream=True, http=http))
        )


def test_all_of_many_frames_are_kept() -> None:
    frames = [chunk(content=f"{number} ") for number in range(5000)] + [chunk("stop")]
    response = completed(chat(), [sse(*frames, "[DONE]")])
    assert list(response.raw_events) == frames
    assert response.message == "".join(f"{number} " for number in range(5000))
    assert KEY not in repr(response.raw_events)


def test_a_message_beside_the_delta_is_ignored() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}
    last = chunk("tool_calls", tool_calls=[call])
    last["choices"][0]["message"] = {"role": "assistant", "content": "repeated", "tool_calls": [call]}
    response = completed(chat(), [sse(last, "[DONE]")])
    assert (response.message, [each.arguments for each in response.tool_calls]) == ("", ['{"a": 1}'])


def test_an_image_among_the_deltas_of_a_step_is_kept() -> None:
    step = {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}}
    image = {"event_type": "step.delta", "index": 0, "delta": {"type": "image", "data": "aQ=="}}
    end = {"event_type": "interaction.completed", "interaction": {"id": "i", "status": "completed"}}
    response = completed(interactions(), [sse(step, image, end)])
    assert [(each.type, each.data) for each in response.attachments] == [(None, "aQ==")]


def test_text_in_the_start_of_a_step_counts_for_its_citations() -> None:
    begun = {"type": "model_output", "content": [{"type": "text", "text": "Hällo "}]}
    cited = {"type": "url_citation", "url": "https://example.org", "start_index": 0, "end_index": 6}
    response = completed(
        interactions(),
        [
            sse(
                {"event_type": "step.start", "index": 0, "step": begun},
                {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "world"}},
                {
                    "event_type": "step.delta",
                    "index": 0,
                    "delta": {"type": "text_annotation_delta", "annotations": [cited]},
                },
                {"event_type": "interaction.completed", "interaction": {"id": "i", "status": "completed"}},
            )
        ],
    )
    (annotation,) = response.annotations
    assert (response.message, annotation.start, annotation.end) == ("Hällo world", 0, 5)


def test_text_that_looked_like_a_tag_stays_before_the_thinking_that_follows() -> None:
    messages = [{"content": "1 <"}, {"content": "", "thinking": "hm"}, {"content": "2"}]
    documents = [{"model": "m", "message": {"role": "assistant", **each}, "done": False} for each in messages]
    documents[-1] |= {"done": True, "done_reason": "stop"}
    body = b"".join(json.dumps(each).encode() + b"\n" for each in documents)
    assert completed(replace(chat(), provider="ollama", think_profile="anywhere"), [body]).message == "1 <2"


def test_text_that_looks_like_a_tag_stays_before_the_call_that_follows() -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    frames = [chunk(content="<think>r</think>\n\n<"), chunk(tool_calls=[call]), chunk("tool_calls"), "[DONE]"]
    response = completed(chat("minimax", think_profile="leading"), [sse(*frames)])
    assert [segment.type for segment in response.segments] == ["reasoning", "text", "tool_call"]


def test_text_that_looks_like_a_tag_stays_before_the_call_that_follows_in_ollama() -> None:
    messages: list[dict[str, Any]] = [
        {"content": "<think>r</think>\n\n<"},
        {"tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
    ]
    documents = [{"model": "m", "message": {"role": "assistant", **each}, "done": False} for each in messages]
    documents[-1] |= {"done": True, "done_reason": "stop"}
    body = b"".join(json.dumps(each).encode() + b"\n" for each in documents)
    response = completed(replace(chat(), provider="ollama", think_profile="leading"), [body])
    assert [segment.type for segment in response.segments] == ["reasoning", "text", "tool_call"]


def interactions() -> Call:
    return replace(chat(), provider="gemini", api="interactions")
