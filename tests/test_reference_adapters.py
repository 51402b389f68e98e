"""The reference adapters over HTTP: the requests they send, the bodies they parse, the errors they raise."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import respx

from llm_conformance import contract
from llm_conformance.contract import Call, LLMError
from tests.calls import ADAPTERS, CHAT_URL, KEY, MESSAGES_URL, ask, chat, chunk, messages, responses, sse

in_both_modes = pytest.mark.parametrize("stream", [False, True], ids=["complete", "stream"])
of_both_formats = pytest.mark.parametrize("make", [chat, messages])

FUNCTION = {"name": "f", "description": "Does f.", "parameters": {"type": "object"}}
TOOL = {"type": "function", "function": FUNCTION}
BODIES = {
    chat: {"id": "a-1", "choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]},
    messages: {"type": "message", "id": "a-1", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"},
    responses: {"object": "response", "id": "a-1", "status": "completed", "output": []},
}


# Requests


@in_both_modes
@pytest.mark.parametrize("provider", ["openai", "deepseek", "zai"])
def test_a_chat_request_has_the_fields_of_the_call(respx_mock: respx.MockRouter, provider: str, stream: bool) -> None:
    route = respx_mock.post(CHAT_URL).respond(content=sse(chunk("stop")) if stream else json.dumps(BODIES[chat]))
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


def test_images_of_geminis_answers_go_back_at_their_places(respx_mock: respx.MockRouter) -> None:
    url = "http://gemini.test/v1beta/models/some-model:generateContent"
    image = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}, "thoughtSignature": "c2ln"}
    parts = [{"text": "Before."}, image, {"text": "Behind."}, {"inlineData": {"mimeType": "image/png", "data": "REVG"}}]
    body = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    route = respx_mock.post(url).respond(content=json.dumps(body))
    first = chat(
        "gemini", api="generate", base_url="http://gemini.test", path="/v1beta/models/some-model:generateContent"
    )
    answer = ADAPTERS.complete(first)
    ask(dataclasses.replace(first, messages=(*first.messages, answer, {"role": "user", "content": "Again."})))
    sent = json.loads(route.calls.last.request.content)
    assert sent["contents"][1] == {"role": "model", "parts": parts}


@in_both_modes
def test_a_messages_request_has_its_system_prompt_apart(respx_mock: respx.MockRouter, stream: bool) -> None:
    ended = sse({"type": "message_stop"})
    route = respx_mock.post(MESSAGES_URL).respond(content=ended if stream else json.dumps(BODIES[messages]))
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


@in_both_modes
def test_a_responses_request_has_an_item_for_each_message_tool_call_and_result(
    respx_mock: respx.MockRouter, stream: bool
) -> None:
    ended = sse({"type": "response.completed", "response": BODIES[responses]})
    route = respx_mock.post().respond(content=ended if stream else json.dumps(BODIES[responses]))
    tool_calls = [
        {"id": "c-1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "c-2", "type": "custom", "custom": {"name": "g", "input": "hold"}},
    ]
    conversation = (
        {"role": "user", "content": "Grüß Gott"},
        {"role": "assistant", "content": "Gleich.", "tool_calls": tool_calls},
        {"role": "tool", "tool_call_id": "c-1", "content": "one"},
        {"role": "tool", "tool_call_id": "c-2", "content": "two"},
    )
    search = {"type": "web_search"}
    ask(responses(stream=stream, messages=conversation, tools=(TOOL,), params={"store": False, "tools": [search]}))
    sent = route.calls.last.request
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(sent.content) == {
        "model": "some-model",
        "store": False,
        "input": [
            {"role": "user", "content": "Grüß Gott"},
            {"role": "assistant", "content": "Gleich."},
            {"type": "function_call", "call_id": "c-1", "name": "f", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "c-2", "name": "g", "input": "hold"},
            {"type": "function_call_output", "call_id": "c-1", "output": "one"},
            {"type": "custom_tool_call_output", "call_id": "c-2", "output": "two"},
        ],
        "tools": [search, {"type": "function", **FUNCTION}],
        **({"stream": True} if stream else {}),
    }


@pytest.mark.parametrize(("make", "defaults"), [(chat, {}), (messages, {"max_tokens": 4096})])
def test_a_request_has_no_fields_that_the_call_lacks(
    respx_mock: respx.MockRouter, make: Callable[..., Call], defaults: dict[str, Any]
) -> None:
    route = respx_mock.post().respond(json=BODIES[make])
    message = {"role": "user", "content": "Hello"}
    ask(make(messages=(message,)))
    assert json.loads(route.calls.last.request.content) == {"model": "some-model", "messages": [message], **defaults}


@in_both_modes
def test_the_transport_gets_the_time_limit_of_the_call(respx_mock: respx.MockRouter, stream: bool) -> None:
    route = respx_mock.post(CHAT_URL).respond(content=sse(chunk("stop")) if stream else json.dumps(BODIES[chat]))
    ask(chat(stream=stream, timeout_s=1.25))
    (left_s,) = set(route.calls.last.request.extensions["timeout"].values())
    assert 1 < left_s <= 1.25


@pytest.mark.parametrize(("headers", "requests"), [({}, 2), ({"retry-after": "73"}, 1)])
def test_a_server_that_is_down_is_asked_once_more_unless_it_sends_retry_after(
    respx_mock: respx.MockRouter, headers: dict[str, str], requests: int
) -> None:
    route = respx_mock.post(CHAT_URL).respond(503, headers=headers)
    with pytest.raises(contract.ServiceUnavailableError):
        ask(chat())
    assert route.call_count == requests


class Dripping(httpx.SyncByteStream):
    """A body that sends a byte every 20 ms and never ends."""

    def __iter__(self) -> Iterator[bytes]:
        while True:
            time.sleep(0.02)
            yield b" "


@in_both_modes
def test_a_body_that_never_ends_runs_into_the_time_limit(respx_mock: respx.MockRouter, stream: bool) -> None:
    respx_mock.post(CHAT_URL).respond(stream=Dripping())
    with pytest.raises(contract.TimeoutError, match=r"no answer within 0\.1 seconds") as raised:
        ask(chat(stream=stream, timeout_s=0.1))
    assert isinstance(raised.value.original_error, httpx.TimeoutException)


def parsed(call: Call, body: Any) -> contract.Response:
    """Return the response of a body that was not streamed."""
    return ADAPTERS.parse(contract.HttpResponse(200, {}, json.dumps(body).encode()), call)


@pytest.mark.parametrize(
    ("call", "body"),
    [
        (
            chat(),
            {
                "choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}],
                "usage": {
                    "prompt_tokens": 1,
                    "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 9},
                    "completion_tokens_details": {"reasoning_tokens": 5, "audio_tokens": 2},
                },
            },
        ),
        (
            responses(),
            {
                "object": "response",
                "id": "r",
                "status": "completed",
                "output": [],
                "usage": {
                    "input_tokens": 1,
                    "output_tokens": 2,
                    "total_tokens": 3,
                    "input_tokens_details": {"cached_tokens": 9},
                    "output_tokens_details": {"reasoning_tokens": 5},
                },
            },
        ),
    ],
)
def test_a_count_that_exceeds_the_count_it_is_part_of_stays_in_the_raw_usage(call: Call, body: dict[str, Any]) -> None:
    usage = parsed(call, body).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (1, 2, 3)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (None, None)
    assert usage.audio_completion_tokens == (2 if call.api == "chat" else None)
    assert usage.raw == body["usage"]


@pytest.mark.parametrize("time", ["2025-11-05T12:34:56.123456789Z", "2025-11-05T14:34:56.12+02:00"])
def test_a_time_is_in_utc_whatever_its_offset(time: str) -> None:
    call = chat("gemini", api="generate")
    assert parsed(call, {"candidates": [], "createTime": time}).created == "2025-11-05T12:34:56Z"


def test_ids_that_are_numbers_are_text() -> None:
    calls = [{"id": number, "type": "function", "function": {"name": "f", "arguments": ""}} for number in (0, 8)]
    message = {"content": None, "tool_calls": calls}
    response = parsed(chat(), {"id": 7, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    assert (response.id, [call.id for call in response.tool_calls]) == ("7", ["0", "8"])


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
@of_both_formats
@pytest.mark.parametrize(("status", "kind"), [(status, kind) for kind, of in STATUSES.items() for status in of])
def test_an_error_status_raises_an_error_without_the_echoed_key(
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
def test_a_transport_fault_raises_an_error_of_the_contract(
    respx_mock: respx.MockRouter, stream: bool, fault: type[httpx.TransportError], kind: type[LLMError]
) -> None:
    respx_mock.post(CHAT_URL).mock(side_effect=fault("no luck"))
    with pytest.raises(LLMError, match="no luck") as raised:
        ask(chat(stream=stream))
    assert raised.type is kind
    assert raised.value.provider == "openai"
    assert isinstance(raised.value.original_error, fault)


class Broken(httpx.SyncByteStream):
    """A body that sends a part and then fails."""

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
        for rest in (b"null", b"[7]", b'"\xff"', b'[{"index": 0, "message": "A", "delta": "A"}]')
    ),
    *((messages, b'{"id": "a-1"' + rest + b"}") for rest in (b"", b', "type": "message"')),
    *(
        (messages, b'{"id": "a-1", "type": "message", "content": ' + rest + b"}")
        for rest in (b"null", b'[{"type": "text"}]')
    ),
]


@in_both_modes
@pytest.mark.parametrize(("make", "body"), MALFORMED)
def test_a_malformed_body_is_a_validation_error(
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
        (chat, {"message": "too fast", "type": "tokens", "code": "rate_limit_exceeded"}, contract.RateLimitError),
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
