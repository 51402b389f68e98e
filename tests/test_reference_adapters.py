"""The reference adapters' own HTTP and framing: what they send, what they make of errors, and of odd streams."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpx
import pytest
import respx

from adapters import ReferenceAdapters
from llm_conformance import contract
from llm_conformance.contract import Call, LLMError, Response, StreamEvent, Usage

KEY = "sk-canary-1234567890"
ADAPTERS = ReferenceAdapters()
CHAT_URL, MESSAGES_URL = "http://chat.test/v1/chat/completions", "http://messages.test/v1/messages"


def chat(provider: str = "openai", **changes: Any) -> Call:
    """Return a call of an OpenAI-shaped API."""
    call = Call(
        provider=provider,
        api="chat",
        model="some-model",
        messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Grüß Gott"}),
        base_url="http://chat.test/v1",
        path="/chat/completions",
        api_key=KEY,
        stream=False,
        timeout_s=1.5,
        correlation_id="c-1",
    )
    return dataclasses.replace(call, **changes)


def messages(**changes: Any) -> Call:
    """Return a call of Anthropic's API."""
    own = {"provider": "anthropic", "api": "messages", "base_url": "http://messages.test", "path": "/v1/messages"}
    return chat(**(own | changes))


def ask(call: Call) -> object:
    """Make the call over HTTP in the mode it asks for."""
    return list(ADAPTERS.stream(call)) if call.stream else ADAPTERS.complete(call)


def sse(*documents: object) -> bytes:
    """Return one frame a document; a str goes in as it is."""
    texts = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in documents)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """Return a chat completion's chunk."""
    return {"id": "a-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def heard(call: Call, chunks: Iterable[bytes]) -> tuple[list[StreamEvent], LLMError | None]:
    """Read a streamed answer to its end, and return the error that it ended in, if any."""
    events: list[StreamEvent] = []
    try:
        events.extend(ADAPTERS.parse_stream(chunks, call))
    except LLMError as error:
        return events, error
    return events, None


def completed(call: Call, chunks: Iterable[bytes]) -> Response:
    """Read a streamed answer to its end and return the whole response."""
    events, error = heard(call, chunks)
    assert error is None
    assert events[-1].response is not None
    return events[-1].response


in_both_modes = pytest.mark.parametrize("stream", [False, True], ids=["complete", "stream"])
of_both_families = pytest.mark.parametrize("make", [chat, messages])

TOOL = {"type": "function", "function": {"name": "f", "description": "Does f.", "parameters": {"type": "object"}}}
ANSWERED = {
    chat: {"id": "a-1", "choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]},
    messages: {"type": "message", "id": "a-1", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"},
}


# What is sent


@in_both_modes
@pytest.mark.parametrize("provider", ["openai", "deepseek", "zai"])
def test_a_chat_call_goes_out_as_it_is(respx_mock: respx.MockRouter, provider: str, stream: bool) -> None:
    route = respx_mock.post(CHAT_URL).respond(content=sse(chunk("stop")) if stream else json.dumps(ANSWERED[chat]))
    call = chat(provider, stream=stream, tools=(TOOL,), params={"temperature": 0, "thinking": {"type": "enabled"}})
    ask(call)
    sent = route.calls.last.request
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["content-type"] == "application/json"
    assert json.loads(sent.content) == {
        "model": "some-model",
        "messages": list(call.messages),
        "tools": [TOOL],
        "temperature": 0,
        "thinking": {"type": "enabled"},
        **({"stream": True} if stream else {}),
    }


@in_both_modes
def test_a_messages_call_has_its_system_prompt_apart(respx_mock: respx.MockRouter, stream: bool) -> None:
    ended = sse({"type": "message_stop"})
    route = respx_mock.post(MESSAGES_URL).respond(content=ended if stream else json.dumps(ANSWERED[messages]))
    search = {"type": "web_search_20250305", "name": "web_search"}
    bare = {"type": "function", "function": {"name": "g"}}
    ask(messages(stream=stream, tools=(TOOL, bare), params={"max_tokens": 9, "tools": [search]}))
    sent = route.calls.last.request
    assert sent.headers["x-api-key"] == KEY
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in sent.headers
    assert json.loads(sent.content) == {
        "model": "some-model",
        "max_tokens": 9,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Grüß Gott"}],
        "tools": [
            search,
            {"name": "f", "description": "Does f.", "input_schema": {"type": "object"}},
            {"name": "g", "description": "", "input_schema": {"type": "object"}},
        ],
        **({"stream": True} if stream else {}),
    }


@pytest.mark.parametrize(("make", "defaults"), [(chat, {}), (messages, {"max_tokens": 4096})])
def test_nothing_goes_out_that_was_not_asked_for(
    respx_mock: respx.MockRouter, make: Callable[..., Call], defaults: dict[str, Any]
) -> None:
    route = respx_mock.post().respond(json=ANSWERED[make])
    said = {"role": "user", "content": "Hello"}
    ask(make(messages=(said,)))
    assert json.loads(route.calls.last.request.content) == {"model": "some-model", "messages": [said], **defaults}


@in_both_modes
def test_the_time_limit_of_the_call_is_that_of_the_transport(respx_mock: respx.MockRouter, stream: bool) -> None:
    route = respx_mock.post(CHAT_URL).respond(content=sse(chunk("stop")) if stream else json.dumps(ANSWERED[chat]))
    ask(chat(stream=stream, timeout_s=1.25))
    assert set(route.calls.last.request.extensions["timeout"].values()) == {1.25}


# Errors

STATUSES: dict[type[LLMError], tuple[int, ...]] = {
    contract.AuthenticationError: (401, 403),
    contract.InvalidRequestError: (400, 413, 422),
    contract.RateLimitError: (429,),
    contract.ResourceNotFoundError: (404,),
    contract.ServiceUnavailableError: (500, 502, 503, 529),
    contract.TimeoutError: (408, 504),
}


@in_both_modes
@of_both_families
@pytest.mark.parametrize(("status", "kind"), [(status, kind) for kind, of in STATUSES.items() for status in of])
def test_a_status_is_an_error_without_the_key_that_the_body_echoes(
    respx_mock: respx.MockRouter, make: Callable[..., Call], stream: bool, status: int, kind: type[LLMError]
) -> None:
    respx_mock.post().respond(status, text=f"{KEY} is wrong, {'x' * 459} {KEY}")
    call = make(stream=stream)
    with pytest.raises(LLMError, match="is wrong") as raised:
        ask(call)
    assert raised.type is kind
    assert raised.value.provider == call.provider
    assert raised.value.extra_context["status_code"] == status
    shown = f"{raised.value} {raised.value!r} {json.dumps(raised.value.to_dict())}"
    assert KEY[:8] not in shown


TRANSPORT_FAULTS: dict[type[httpx.TransportError], type[LLMError]] = {
    **dict.fromkeys((httpx.ConnectTimeout, httpx.ReadTimeout, httpx.WriteTimeout), contract.TimeoutError),
    **dict.fromkeys((httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError), contract.ServiceUnavailableError),
}


@in_both_modes
@pytest.mark.parametrize(("fault", "kind"), TRANSPORT_FAULTS.items())
def test_a_fault_of_the_transport_is_ours(
    respx_mock: respx.MockRouter, stream: bool, fault: type[httpx.TransportError], kind: type[LLMError]
) -> None:
    respx_mock.post(CHAT_URL).mock(side_effect=fault("no luck"))
    with pytest.raises(LLMError, match="no luck") as raised:
        ask(chat(stream=stream))
    assert raised.type is kind
    assert raised.value.provider == "openai"
    assert isinstance(raised.value.original_error, fault)


class Broken(httpx.SyncByteStream):
    """A body that comes in part."""

    def __init__(self, part: bytes, fault: Exception) -> None:
        self._part, self._fault = part, fault

    def __iter__(self) -> Iterator[bytes]:
        yield self._part
        raise self._fault


@pytest.mark.parametrize("fault", [httpx.ReadTimeout, httpx.ReadError])
def test_a_fault_in_mid_stream_comes_after_what_was_received(
    respx_mock: respx.MockRouter, fault: type[httpx.TransportError]
) -> None:
    body = Broken(sse(chunk(content="Hal")), fault("no luck"))
    respx_mock.post(CHAT_URL).mock(return_value=httpx.Response(200, stream=body))
    events = ADAPTERS.stream(chat(stream=True))
    assert next(iter(events)).delta == "Hal"
    with pytest.raises(TRANSPORT_FAULTS[fault], match="no luck"):
        list(events)


MALFORMED = [
    *((chat, body) for body in (b"", b"<html>Bad gateway</html>", b"null", b"[]", b"{}", b'{"choices": [{"index": 0,')),
    *(
        (chat, b'{"choices": ' + rest + b"}")
        for rest in (b"null", b"[7]", b'"\xff"', b'[{"index": 0, "message": "A"}]')
    ),
    *((messages, b'{"id": "a-1"' + rest + b"}") for rest in (b"", b', "type": "message"')),
    *(
        (messages, b'{"id": "a-1", "type": "message", "content": ' + rest + b"}")
        for rest in (b"null", b'[{"type": "text"}]')
    ),
]


@in_both_modes
@pytest.mark.parametrize(("make", "body"), MALFORMED)
def test_a_malformed_answer_is_a_validation_error(
    respx_mock: respx.MockRouter, make: Callable[..., Call], body: bytes, stream: bool
) -> None:
    content = b"data: " + body + b"\n\ndata: [DONE]\n\n" if stream else body
    respx_mock.post().respond(content=content)
    call = make(stream=stream)
    with pytest.raises(contract.ValidationError) as raised:
        ask(call)
    assert raised.value.provider == call.provider
    assert raised.value.original_error is not None


@in_both_modes
@pytest.mark.parametrize(
    ("make", "error", "kind"),
    [
        (chat, {"message": "too fast", "code": 429}, contract.RateLimitError),
        (chat, {"message": "too fast", "status_code": 404}, contract.ResourceNotFoundError),
        (chat, {"message": "too fast", "type": "invalid_request_error"}, contract.InvalidRequestError),
        (chat, "too fast", contract.ServiceUnavailableError),
        (messages, {"type": "overloaded_error", "message": "too fast"}, contract.ServiceUnavailableError),
        (messages, {"type": "rate_limit_error", "message": "too fast"}, contract.RateLimitError),
    ],
)
def test_an_error_inside_a_200_is_an_error(
    respx_mock: respx.MockRouter, make: Callable[..., Call], error: object, kind: type[LLMError], stream: bool
) -> None:
    document = {"type": "error", "error": error}
    body = sse(document, "[DONE]") if stream else json.dumps(document)
    respx_mock.post().respond(content=body)
    with pytest.raises(LLMError, match="too fast") as raised:
        ask(make(stream=stream))
    assert raised.type is kind


# Streams

ANSWER = "Zwölf 🦊\u2028e\u0301 <b>\r\n"
PLAIN = sse(chunk(role="assistant"), chunk(content=ANSWER[:8]), chunk(content=ANSWER[8:]), chunk("stop"), "[DONE]")
INDENTED = json.dumps(chunk("stop", content=ANSWER), ensure_ascii=False, indent=1).replace("\n", "\ndata: ")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PLAIN, id="as it should be"),
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
    assert completed(chat(), [body]).message == ANSWER
    assert completed(chat(), (bytes([byte]) for byte in body)).message == ANSWER
    for at in range(1, len(body)):
        assert completed(chat(), [body[:at], body[at:]]).message == ANSWER


def test_a_cut_inside_a_character_goes_unnoticed_over_http(respx_mock: respx.MockRouter) -> None:
    at = PLAIN.index("🦊".encode()) + 2
    respx_mock.post(CHAT_URL).mock(return_value=httpx.Response(200, content=iter([PLAIN[:at], PLAIN[at:]])))
    events = list(ADAPTERS.stream(chat(stream=True)))
    assert "".join(event.delta or "" for event in events) == ANSWER
    assert [event.event_type for event in events].count("response.completed") == 1


def test_a_delta_is_given_before_the_next_frame_is_read() -> None:
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
    events, ended_in = heard(make(), [sse(*frames, *([error] if error else []))])
    assert [(event.event_type, event.delta) for event in events] == [("response.output_text.delta", "Hal")]
    assert type(ended_in) is contract.ServiceUnavailableError


def test_a_frame_cut_short_is_a_validation_error() -> None:
    _, ended_in = heard(chat(), [sse(chunk(content="Hal")), sse(chunk("stop"))[:-20]])
    assert type(ended_in) is contract.ValidationError


def test_an_end_marker_alone_ends_a_stream_without_a_finish_reason() -> None:
    response = completed(chat(), [sse(chunk(content="Hi"), "[DONE]")])
    assert (response.message, response.finish_reason, response.raw_finish_reason) == ("Hi", None, None)


def test_reading_goes_on_behind_a_finish_reason() -> None:
    usage = {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3}
    last = {"id": "a-1", "choices": [], "usage": usage}
    response = completed(chat(), [sse(chunk("length", content="A"), chunk("stop", content="B"), last, "[DONE]")])
    assert (response.message, response.finish_reason) == ("AB", "stop")
    assert response.usage == Usage(prompt_tokens=2, completion_tokens=1, total_tokens=3, raw=usage)


def test_pieces_of_tool_calls_may_interleave() -> None:
    def piece(index: int, arguments: str, **named: Any) -> dict[str, Any]:
        return chunk(tool_calls=[{"index": index, "function": {"arguments": arguments, **named}, "id": f"t-{index}"}])

    frames = [piece(0, "", name="f"), piece(1, '{"b', name="g"), piece(0, '{"a"'), piece(1, '":2}'), piece(0, ":1}")]
    events, _ = heard(chat(), [sse(*frames, chunk("tool_calls"))])
    response = events[-1].response
    assert response is not None
    calls = [(call.id, call.name, call.arguments) for call in response.tool_calls]
    assert calls == [("t-0", "f", '{"a":1}'), ("t-1", "g", '{"b":2}')]
    deltas = [(event.tool_call.index, event.delta) for event in events if event.tool_call]
    assert deltas == [(0, ""), (1, '{"b'), (0, '{"a"'), (1, '":2}'), (0, ":1}")]


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
    "input is said first, output last": ({"input_tokens": 10}, [{"output_tokens": 7}], (10, 7, 17, N, N, N)),
    "a prompt is its cached parts too": (CACHED, [{"output_tokens": 7}], (18, 7, 25, 5, 3, N)),
    "counts are cumulative": (CACHED, [{"output_tokens": 4}, {"output_tokens": 7}], (18, 7, 25, 5, 3, N)),
    "null takes nothing back": (CACHED, [dict.fromkeys(CACHED), None], (18, 1, 19, 5, 3, N)),
    "0 is a count": (dict.fromkeys(CACHED, 0), [], (0, 0, 0, 0, 0, N)),
    "thinking is output": (CACHED, [{"output_tokens_details": {"thinking_tokens": 1}}], (18, 1, 19, 5, 3, 1)),
    "half is not the whole": (None, [{"output_tokens": 7}], (N, 7, N, N, N, N)),
    "nothing is reported": (None, [None], None),
}


@pytest.mark.parametrize(("start", "deltas", "counts"), USAGE.values(), ids=USAGE)
def test_usage_folds_over_a_stream(start: object, deltas: list[object], counts: tuple[int | None, ...] | None) -> None:
    began = {"type": "message_start", "message": {"id": "a-1", "usage": start}}
    frames = [{"type": "message_delta", "delta": {}, "usage": usage} for usage in deltas]
    usage = completed(messages(), [sse(began, {"type": "ping"}, *frames, {"type": "message_stop"})]).usage
    said = usage and (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
    parts = usage and (usage.cached_tokens, usage.cache_write_tokens, usage.reasoning_tokens)
    assert (said, parts) == (counts and counts[:3], counts and counts[3:])
