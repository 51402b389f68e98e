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
                raise status_error(_read(answer, until, call), call)
            for event in self.parse_stream(_in_time(until, answer, call), call):
                whole = event.response
                if whole is not None:
                    event = replace(event, response=replace(whole, provider_meta=(*failed, *whole.provider_meta)))
                yield event

    def parse(self, http: HttpResponse, call: Call) -> Response:
        """Return what a plain answer says."""
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
        """Give what a streamed answer says, as its bytes come."""
        if call.http and call.http.status >= 400:  # then what comes is no stream
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


def bearer(call: Call) -> dict[str, str]:
    """Return the header with the key, where most providers want it."""
    return {"authorization": f"Bearer {call.api_key}"}


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
    error = status_error(http, call)
    return ProviderMeta(call.provider, call.model, extra={"error": str(error), **error.extra_context})
