"""What every provider's adapter does alike: HTTP, errors, and asking its decoder for the rest."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import httpx

from llm_conformance.contract import (
    Call,
    HttpResponse,
    LLMError,
    ProviderMeta,
    Response,
    ServiceUnavailableError,
    StreamEvent,
    TimeoutError,
    ValidationError,
    error_for_status,
)

from ._framing import Unframe, events


class Decoder(Protocol):
    """Understands one wire family; made anew for each answer."""

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take one JSON document, the whole body or one frame, and give the events that it brings."""

    def end(self) -> Iterator[StreamEvent]:
        """Take the end of the answer: the last events before `response.completed`."""

    @property
    def ended(self) -> bool:
        """Whether the provider has said that the answer is over."""

    def response(self) -> Response:
        """Return all that was fed."""


@dataclass(frozen=True)
class ProviderAdapter:
    """One API of one provider.

    Args:
        api: `provider:api`, as in a call.
        decoder: Makes a decoder for a call.
        request: Returns the JSON body of a call's request.
        headers: Returns the headers of a call's request.
        unframe: Takes the bytes of a stream apart.
    """

    api: str
    decoder: Callable[[Call], Decoder]
    request: Callable[[Call], Mapping[str, Any]]
    headers: Callable[[Call], Mapping[str, str]]
    unframe: Unframe = events

    def complete(self, call: Call) -> Response:
        """Ask the provider and return its answer."""
        until = time.monotonic() + call.timeout_s
        with self._sent(call, until) as (answer, failed):
            response = self.parse(_read(answer, until, call), call)
            return replace(response, provider_meta=(*failed, *response.provider_meta))

    def stream(self, call: Call) -> Iterator[StreamEvent]:
        """Ask the provider and give its answer as it comes."""
        until = time.monotonic() + call.timeout_s
        with self._sent(call, until) as (answer, failed):
            if answer.status_code >= 400:
                raise _status_error(_read(answer, until, call), call)
            for event in self.parse_stream(_in_time(until, answer, call), call):
                whole = event.response
                if whole is not None:
                    event = replace(event, response=replace(whole, provider_meta=(*failed, *whole.provider_meta)))
                yield event

    def parse(self, http: HttpResponse, call: Call) -> Response:
        """Return what a plain answer says."""
        if http.status >= 400:
            raise _status_error(http, call)
        decoder = self.decoder(replace(call, stream=False))
        with _malformed_is_ours(call):
            for _ in decoder.feed(_document(http.body)):
                pass
            for _ in decoder.end():
                pass
            return decoder.response()

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[StreamEvent]:
        """Give what a streamed answer says, as its bytes come."""
        if call.http and call.http.status >= 400:  # then what comes is no stream
            raise _status_error(HttpResponse(call.http.status, call.http.headers, b"".join(chunks)), call)
        decoder = self.decoder(replace(call, stream=True))
        done = False
        with _malformed_is_ours(call):
            for data in self.unframe(chunks):
                if data == "[DONE]":
                    done = True
                else:
                    yield from decoder.feed(_document(data))
            if not (done or decoder.ended):
                raise ServiceUnavailableError("the stream broke off", provider=call.provider)
            yield from decoder.end()
            yield StreamEvent("response.completed", response=decoder.response())

    @contextlib.contextmanager
    def _sent(self, call: Call, until: float) -> Iterator[tuple[httpx.Response, tuple[ProviderMeta, ...]]]:
        """Ask the provider, once more if it is overloaded or down; give its answer, and the attempt that failed."""
        failed: tuple[ProviderMeta, ...] = ()
        try:
            with httpx.Client(verify=call.base_url.startswith("https:")) as client:
                answer = self._asked(client, call, until)
                if _is_down(answer) and "retry-after" not in answer.headers:  # who names a time is not asked before it
                    failed = (_failed(_read(answer, until, call), call),)
                    answer = self._asked(client, call, until)
                with contextlib.closing(answer):
                    yield answer, failed
        except httpx.TimeoutException as error:
            raise TimeoutError(str(error), provider=call.provider, original_error=error) from error
        except httpx.DecodingError as error:
            raise ValidationError(str(error), provider=call.provider, original_error=error) from error
        except httpx.TransportError as error:
            raise ServiceUnavailableError(str(error), provider=call.provider, original_error=error) from error

    def _asked(self, client: httpx.Client, call: Call, until: float) -> httpx.Response:
        left_s = _left(until, call)
        body, headers = self.request(call), self.headers(call)
        asked = client.build_request("POST", call.base_url + call.path, json=body, headers=headers, timeout=left_s)
        return client.send(asked, stream=True)


def made_calls(answer: Response) -> list[Mapping[str, Any]]:
    """Return an earlier answer's tool calls in OpenAI's form, which others share."""
    said = {"function": "arguments", "custom": "input"}
    return [
        {"id": each.id, "type": each.type, each.type: {"name": each.name, said[each.type]: each.arguments}}
        for each in answer.tool_calls
    ]


def error_in_band(error: Any, call: Call) -> LLMError:
    """Return the error that an error object inside a 200 stands for: by its status, else by its type or code."""
    said = json.loads(_redacted(json.dumps(error if isinstance(error, Mapping) else {"message": error}), call))
    for status in (said.get("status_code"), said.get("code")):
        if isinstance(status, int) and 400 <= status <= 599:
            kind = error_for_status(status)
            break
    else:
        words = (str(said.get("type")), str(said.get("code")))
        kind = error_for_status(next((_STATUS_BY_WORD[word] for word in words if word in _STATUS_BY_WORD), 500))
    return kind(
        str(said.get("message") or "error in mid-stream"), provider=call.provider, extra_context={"error": said}
    )


_STATUS_BY_WORD = {
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "invalid_request_error": 400,
    "timeout_error": 504,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "invalid_prompt": 400,
    "data_inspection_failed": 400,
    "vector_store_timeout": 504,
    "1001": 504,  # MiniMax: no answer in time
    "1002": 429,  # MiniMax: too many requests
    "1004": 401,  # MiniMax: the key is wrong
    "1008": 402,  # MiniMax: nothing is left to pay with
    "1026": 400,  # MiniMax: the question is not allowed
    "1027": 400,  # MiniMax: the answer is not allowed
    "1039": 429,  # MiniMax: too many tokens
    "2013": 400,  # MiniMax: parameters that are none
    "2049": 401,  # MiniMax: a key that is none
    "3036": 429,  # Workers AI: the account's share is used up
    "3040": 429,  # Workers AI: out of capacity
}


def _document(data: bytes | str) -> Mapping[str, Any]:
    document = json.loads(data)
    if not isinstance(document, Mapping):
        raise TypeError("an object was expected")
    return document


def _is_down(answer: httpx.Response) -> bool:
    return answer.status_code >= 500 and error_for_status(answer.status_code) is ServiceUnavailableError


def _left(until: float, call: Call) -> float:
    """Return how many seconds are left of a call's time; raise TimeoutError if none are."""
    left_s = until - time.monotonic()
    if left_s <= 0:
        raise TimeoutError(f"no answer within {call.timeout_s:g} seconds", provider=call.provider)
    return left_s


def _in_time(until: float, answer: httpx.Response, call: Call) -> Iterator[bytes]:
    """Give the bytes of an answer as they come: httpx itself only limits how long it waits for each piece."""
    for chunk in answer.iter_bytes():
        yield chunk
        _left(until, call)


def _read(answer: httpx.Response, until: float, call: Call) -> HttpResponse:
    body = b"".join(_in_time(until, answer, call))
    return HttpResponse(answer.status_code, dict(answer.headers), body)


def _failed(http: HttpResponse, call: Call) -> ProviderMeta:
    error = _status_error(http, call)
    return ProviderMeta(call.provider, call.model, extra={"error": str(error), **error.extra_context})


def _status_error(http: HttpResponse, call: Call) -> LLMError:
    message = _redacted(http.body.decode("utf-8", "replace"), call)[:500]
    context = {"status_code": http.status, "retry_after": http.headers.get("retry-after")}
    known = {name: value for name, value in context.items() if value is not None}
    return error_for_status(http.status)(message, provider=call.provider, extra_context=known)


@contextlib.contextmanager
def _malformed_is_ours(call: Call) -> Iterator[None]:
    """Have what a malformed body runs into come out as ValidationError."""
    try:
        yield
    except _MALFORMED as error:
        message = _redacted(f"malformed answer: {type(error).__name__}: {error}", call)
        raise ValidationError(message, provider=call.provider, original_error=error) from error


_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


def _redacted(text: str, call: Call) -> str:
    return text.replace(call.api_key, "***") if call.api_key else text
