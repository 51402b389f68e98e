"""Send a request to a provider. Return the response byte for byte, with the time at which each chunk arrived."""

from __future__ import annotations

import asyncio
import re
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx

from llm_conformance.limits import BYTES as MAX_BYTES
from llm_conformance.recording.provider_request import ProviderRequest
from llm_conformance.wire.providers.api import Api

ATTEMPTS = 4
LONGEST_WAIT_S = 60.0
CONNECT_S = 20.0
READ_S = 120.0
WHOLE_S = 600.0
"""The time limit in seconds for a whole response, headers and body."""
_GZIP_OR_DEFLATE = 32 + zlib.MAX_WBITS
_LONGEST_BODY = MAX_BYTES // 2
"""The most bytes that a body may have.

A cassette may have at most `MAX_BYTES`. It also has the request, and escaping makes the body longer.
"""


class RefusedError(Exception):
    """The provider refuses access, or its responses cannot be read. More requests would be useless."""


@dataclass(frozen=True)
class Chunk:
    """The size of a piece of the body in bytes, and the milliseconds from the request to its arrival."""

    size: int
    milliseconds: int


@dataclass(frozen=True)
class RawResponse:
    """A response as it arrived.

    Attributes:
        chunks: The pieces of the body; empty if the body had to be decompressed.
        broke_off: Why the body is incomplete; "" if it is complete.
        attempts: The number of requests that were sent.
        can_retry: Whether the connection broke. Another attempt may then get the whole body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    chunks: tuple[Chunk, ...]
    broke_off: str = ""
    attempts: int = 1
    can_retry: bool = False


def headers_for(api: Api, key: str | None) -> dict[str, str]:
    """Return the headers of a request. They have the key if the API has a header for keys."""
    headers = {"content-type": "application/json", "accept-encoding": "identity", **api.request_headers}
    if key and api.key_headers:
        name = api.key_headers[0]
        headers[name] = f"Bearer {key}" if name == "authorization" else key
    return headers


def send(request: ProviderRequest, url: str, key: str | None) -> RawResponse:
    """Send a request. If the provider is busy or the connection breaks, send it a few times more.

    The time in `retry-after` is waited for. A response with the status of the present recording never counts as busy.

    Raises:
        RefusedError: The status is 401, 403 or a redirect, and differs from the recorded status; or the headers do not
            end; or the body cannot be decompressed.
        httpx.TransportError: The last attempt got no response.
    """
    from tenacity import Retrying, retry_if_exception_type, retry_if_result, stop_after_attempt
    from tenacity.wait import wait_exponential

    backoff = wait_exponential(max=LONGEST_WAIT_S)
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        retry=retry_if_exception_type(httpx.TransportError)
        | retry_if_result(lambda response: response.can_retry or _is_busy(response.status, request.recorded_status)),
        wait=lambda state: _retry_after(state.outcome) or backoff(state),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
    )
    response: RawResponse = retrying(_send_once, request, url, headers_for(request.api, key))
    if response.status in (401, 403) and response.status != request.recorded_status:
        names = " or ".join(request.api.key_variables)
        advice = f"; check {names}" if names else ""
        raise RefusedError(f"{request.api} answers with status {response.status}{advice}")
    _refuse_redirect(request, response)
    return replace(response, attempts=int(retrying.statistics.get("attempt_number", 1)))


def _send_once(request: ProviderRequest, url: str, headers: Mapping[str, str]) -> RawResponse:
    return asyncio.run(_sent(request, url, headers))


async def _sent(request: ProviderRequest, url: str, headers: Mapping[str, str]) -> RawResponse:
    """Send a request once.

    The time limit is for the whole response, because a server may send single bytes for ever.
    """
    start = time.monotonic()
    body, chunks, broke_off, can_retry = bytearray(), [], "", False
    response: httpx.Response | None = None
    limits = httpx.Timeout(READ_S, connect=CONNECT_S)
    async with httpx.AsyncClient(timeout=limits, follow_redirects=False) as client:
        sending = client.stream("POST", url, json=request.body, headers=dict(headers))
        try:
            async with asyncio.timeout(WHOLE_S), sending as response:
                async for data in response.aiter_raw():
                    chunks.append(Chunk(len(data), round((time.monotonic() - start) * 1000)))
                    body += data[: _LONGEST_BODY - len(body)]
                    if len(body) >= _LONGEST_BODY:
                        broke_off = f"it is longer than {_LONGEST_BODY // 2**20} MiB"
                        break
        except TimeoutError as error:
            if response is None:
                raise RefusedError(f"it has not sent its headers within {WHOLE_S:g} seconds") from error
            broke_off = f"it took longer than {WHOLE_S:g} seconds"
        except httpx.TransportError as error:
            if response is None:
                raise
            broke_off, can_retry = type(error).__name__, True  # the error's message may repeat a secret that was sent
    unpacked = _unpacked(bytes(body), response.headers.get("content-encoding", "identity"))
    arrived = tuple(chunks) if len(unpacked) == sum(chunk.size for chunk in chunks) else ()
    return RawResponse(response.status_code, dict(response.headers), unpacked, arrived, broke_off, can_retry=can_retry)


def _refuse_redirect(request: ProviderRequest, response: RawResponse) -> None:
    """Raise RefusedError for a redirect. Nobody follows it, because the key is only for the host of the request."""
    if 300 <= response.status < 400 and response.status != request.recorded_status:
        host = re.match(r"https?://([\w.:-]{1,100})(?:[/?#]|\Z)", response.headers.get("location", ""), re.ASCII)
        where = f" to {host[1]}" if host else ""
        what = f"{request.api} redirects{where} (status {response.status})"
        raise RefusedError(f"{what}, where no key is sent; --base-url names another URL")


def _unpacked(body: bytes, encoding: str) -> bytes:
    """Return the body decompressed. Raises RefusedError if the encoding is unknown or the data is corrupt."""
    if encoding == "identity":
        return body
    try:
        if encoding not in ("gzip", "deflate"):
            raise zlib.error(encoding)
        return zlib.decompressobj(_GZIP_OR_DEFLATE).decompress(body, _LONGEST_BODY)
    except zlib.error as error:
        raise RefusedError(f"its responses cannot be decompressed (content-encoding {encoding[:20]!r})") from error


def _is_busy(status: int, recorded_status: int | None) -> bool:
    return status != recorded_status and (status in (408, 429) or status >= 500)


def _retry_after(outcome: object) -> float:
    """Return the seconds of the `retry-after` header, at most `LONGEST_WAIT_S`; 0 without this header."""
    failed = getattr(outcome, "failed", True)
    response = None if failed else outcome.result()  # type: ignore[attr-defined]
    value = response.headers.get("retry-after", "") if isinstance(response, RawResponse) else ""
    return min(float(value), LONGEST_WAIT_S) if re.fullmatch(r"[0-9]{1,9}", value) else 0.0
