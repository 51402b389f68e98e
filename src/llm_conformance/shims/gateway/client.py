"""The client of a gateway: it sends OpenAI chat requests over HTTP, and reads the answers without repairs."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from llm_conformance.shims.gateway.answers import MalformedAnswerError

Fields = Mapping[str, Any]


class StatusError(Exception):
    """The gateway answered with a status of 400 or more."""

    def __init__(self, status: int, headers: Mapping[str, str], text: str) -> None:
        super().__init__(f"{status}: {text[:2000]}")
        self.status, self.headers = status, headers


class StreamError(Exception):
    """The gateway sent an error within a stream, or in an answer with status 200."""

    def __init__(self, error: Any) -> None:
        super().__init__(json.dumps(error, ensure_ascii=False)[:2000])
        self.error: Fields = error if isinstance(error, Mapping) else {}


class BrokenOffError(Exception):
    """The stream ended without a finish reason and without `[DONE]`."""


class OutOfTimeError(Exception):
    """The gateway did not answer within the time limit of the call."""


class Client:
    """Asks a gateway at a URL.

    Args:
        url: The URL of its chat completions.
        headers: Headers of each request.
        timeout_s: The time limit of a call in seconds.
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        self._url, self._headers, self._timeout_s = url, headers, timeout_s

    def whole(self, body: Fields) -> Any:
        """Return the document of a plain answer.

        Raises StatusError, StreamError, OutOfTimeError, MalformedAnswerError, or an httpx.TransportError.
        """
        with self._sent(body) as (received, until):
            return _document(b"".join(_pieces(received, until)))

    def chunks(self, body: Fields) -> Iterator[Any]:
        """Yield the chunks of a streamed answer; for `[DONE]`, None. Raises the same exceptions as `whole`."""
        with self._sent(body) as (received, until):
            for line in _lines(_pieces(received, until)):
                if not line.startswith(b"data:"):
                    if line.startswith(b"{"):  # an error instead of a stream
                        _document(line)
                    continue
                data = line.removeprefix(b"data:").strip()
                yield None if data == b"[DONE]" else _document(data)

    @contextlib.contextmanager
    def _sent(self, body: Fields) -> Iterator[tuple[httpx.Response, float]]:
        until = time.monotonic() + self._timeout_s
        try:
            with (
                httpx.Client(trust_env=False, timeout=self._timeout_s) as client,
                client.stream("POST", self._url, json=body, headers=dict(self._headers)) as received,
            ):
                if received.status_code >= 400:
                    text = b"".join(_pieces(received, until)).decode("utf-8", "replace")
                    raise StatusError(received.status_code, dict(received.headers), text)
                yield received, until
        except httpx.TimeoutException as error:
            raise OutOfTimeError(f"no answer within {self._timeout_s:g} s") from error


def _pieces(received: httpx.Response, until: float) -> Iterator[bytes]:
    for piece in received.iter_bytes():
        yield piece
        if time.monotonic() > until:
            raise OutOfTimeError("the answer was not over within the time limit")


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line.rstrip(b"\r") for line in lines)
    if rest:
        yield rest


def _document(raw: bytes) -> Any:
    """Return a JSON document. Raises StreamError if it is an error."""
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise MalformedAnswerError(f"not JSON: {raw[:200]!r}") from error
    if isinstance(document, Mapping) and document.get("error"):
        raise StreamError(document["error"])
    return document
