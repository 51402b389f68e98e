"""What all providers share: requests, responses and errors over HTTP, and feeding the decoder."""

from __future__ import annotations

import contextlib
import json
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import httpx

from llm_conformance.contract import (
    Call,
    HttpResponse,
    ProviderMeta,
    Response,
    ServiceUnavailableError,
    StreamEvent,
    TimeoutError,
    ValidationError,
    error_for_status,
)

from ._errors import malformed_is_invalid, status_error
from ._framing import Unframe, events

_WITHOUT_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For URLs with `http:`. Without it, each client would create a context of its own, which takes 0.5 ms."""


class Decoder(Protocol):
    """Decodes one wire format. Each response gets a new decoder."""

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take one JSON document (the whole body, or one frame of a stream), and yield its stream events."""

    def end(self) -> Iterator[StreamEvent]:
        """Take the end of the response, and yield the last events before `response.completed`."""

    @property
    def ended(self) -> bool:
        """Whether the end marker or the finish reason of the response has come."""

    def response(self) -> Response:
        """Return the response made from all documents."""


@dataclass(frozen=True)
class ProviderAdapter:
    """One API of one provider.

    Args:
        api: `provider:api`, as in a call.
        decoder: Returns a new decoder for a call.
        request: Returns the JSON body of a call's request.
        headers: Returns the headers of a call's request, including the key.
        unframe: Splits the bytes of a stream into JSON documents.
    """

    api: str
    decoder: Callable[[Call], Decoder]
    request: Callable[[Call], Mapping[str, Any]]
    headers: Callable[[Call], Mapping[str, str]]
    unframe: Unframe = events

    def complete(self, call: Call) -> Response:
        """Send the request and return the response."""
        deadline = time.monotonic() + call.timeout_s
        with self._sent(call, deadline) as (received, failed):
            response = self.parse(_read(received, deadline, call), call)
            return replace(response, provider_meta=(*failed, *response.provider_meta))

    def stream(self, call: Call) -> Iterator[StreamEvent]:
        """Send the request and yield the stream events as they come."""
        deadline = time.monotonic() + call.timeout_s
        with self._sent(call, deadline) as (received, failed):
            if received.status_code >= 400:
                raise status_error(_read(received, deadline, call), call)
            for event in self.parse_stream(_in_time(deadline, received, call), call):
                response = event.response
                if response is not None:
                    response = replace(response, provider_meta=(*failed, *response.provider_meta))
                yield replace(event, response=response)

    def parse(self, http: HttpResponse, call: Call) -> Response:
        """Return the response in a plain body."""
        if http.status >= 400:
            raise status_error(http, call)
        decoder = self.decoder(replace(call, stream=False))
        with malformed_is_invalid(call):
            for _ in decoder.feed(_document(http.body)):
                pass
            for _ in decoder.end():
                pass
            return decoder.response()

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[StreamEvent]:
        """Yield the stream events of a streamed body as its bytes come."""
        if call.http and call.http.status >= 400:  # an error body is not a stream
            raise status_error(HttpResponse(call.http.status, call.http.headers, b"".join(chunks)), call)
        decoder = self.decoder(replace(call, stream=True))
        done = False
        with malformed_is_invalid(call):
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
    def _sent(self, call: Call, deadline: float) -> Iterator[tuple[httpx.Response, tuple[ProviderMeta, ...]]]:
        """Yield (HTTP response, failed attempts). If the server was down, the request was sent again."""
        failed: tuple[ProviderMeta, ...] = ()
        try:
            with httpx.Client(verify=call.base_url.startswith("https:") or _WITHOUT_TLS) as client:
                received = self._send(client, call, deadline)
                if _is_down(received) and "retry-after" not in received.headers:  # else the caller has to wait
                    failed = (_failed_attempt(_read(received, deadline, call), call),)
                    received = self._send(client, call, deadline)
                with contextlib.closing(received):
                    yield received, failed
        except httpx.TimeoutException as error:
            raise TimeoutError(str(error), provider=call.provider, original_error=error) from error
        except httpx.DecodingError as error:
            raise ValidationError(str(error), provider=call.provider, original_error=error) from error
        except httpx.TransportError as error:
            raise ServiceUnavailableError(str(error), provider=call.provider, original_error=error) from error

    def _send(self, client: httpx.Client, call: Call, deadline: float) -> httpx.Response:
        left_s = _left(deadline, call)
        body, headers = self.request(call), self.headers(call)
        request = client.build_request("POST", call.base_url + call.path, json=body, headers=headers, timeout=left_s)
        return client.send(request, stream=True)


def bearer(call: Call) -> dict[str, str]:
    """Return the header with the key that most providers use."""
    return {"authorization": f"Bearer {call.api_key}"}


def _document(data: bytes | str) -> Mapping[str, Any]:
    document = json.loads(data)
    if not isinstance(document, Mapping):
        raise TypeError("an object was expected")
    return document


def _is_down(received: httpx.Response) -> bool:
    return received.status_code >= 500 and error_for_status(received.status_code) is ServiceUnavailableError


def _left(deadline: float, call: Call) -> float:
    """Return the seconds until the deadline. Raises httpx.TimeoutException, like httpx, if it has passed."""
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise httpx.TimeoutException(f"no answer within {call.timeout_s:g} seconds")
    return left_s


def _in_time(deadline: float, received: httpx.Response, call: Call) -> Iterator[bytes]:
    """Yield the bytes of a body until the deadline. httpx itself limits only the time between two chunks."""
    for chunk in received.iter_bytes():
        yield chunk
        _left(deadline, call)


def _read(received: httpx.Response, deadline: float, call: Call) -> HttpResponse:
    body = b"".join(_in_time(deadline, received, call))
    return HttpResponse(received.status_code, dict(received.headers), body)


def _failed_attempt(http: HttpResponse, call: Call) -> ProviderMeta:
    error = status_error(http, call)
    return ProviderMeta(call.provider, call.model, extra={"error": str(error), **error.extra_context})
