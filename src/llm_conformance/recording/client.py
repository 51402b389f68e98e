"""Asking a provider: one request, its answer byte for byte, and when each piece of it came."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx

from llm_conformance.recording.drafts import Ask
from llm_conformance.scenarios import cassette
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import MAX_BYTES

ATTEMPTS = 4
LONGEST_WAIT_S = 60.0
READ_S = 120.0
WHOLE_S = 600.0
_HALF = MAX_BYTES // 2  # of what a cassette may be, which has the answer escaped, and the request


class RefusedError(Exception):
    """The provider does not let us in; asking again, or asking for more, is of no use."""


@dataclass(frozen=True)
class Piece:
    """Bytes of an answer that came together, so many milliseconds after the request went out."""

    size: int
    milliseconds: int


@dataclass(frozen=True)
class Answer:
    """What came back. `broke_off` says how, where the answer is not whole; `attempts` counts the requests."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    pieces: tuple[Piece, ...]
    broke_off: str = ""
    attempts: int = 1
    may_pass: bool = False
    """Whether it broke off on the way, and might not the next time."""


def headers_for(api: Api, key: str | None) -> dict[str, str]:
    """Return the headers of a request: the provider's own, and the key where the provider wants it."""
    headers = {"content-type": "application/json", "accept-encoding": "identity", **api.request_headers}
    if key and api.key_headers:
        name = api.key_headers[0]
        headers[name] = f"Bearer {key}" if name == "authorization" else key
    return headers


def call(client: httpx.Client, ask: Ask, url: str, key: str | None) -> Answer:
    """Ask, and ask again where the provider says that it is busy, as late as it says.

    An error status that was recorded before is an answer, and so is one that does not go away.

    Raises:
        RefusedError: 401 or 403, where that was not what was recorded.
        httpx.TransportError: No answer began, however often it was asked.
    """
    from tenacity import Retrying, retry_if_exception_type, retry_if_result, stop_after_attempt
    from tenacity.wait import wait_exponential

    grows = wait_exponential(max=LONGEST_WAIT_S)
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        retry=retry_if_exception_type(httpx.TransportError)
        | retry_if_result(lambda answer: answer.may_pass or _is_busy(answer.status, ask.expected)),
        wait=lambda state: _asked_to_wait(state.outcome) or grows(state),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
    )
    answer: Answer = retrying(_once, client, ask, url, headers_for(ask.api, key))
    if answer.status in (401, 403) and answer.status != ask.expected:
        names = " or ".join(ask.api.key_variables)
        advice = f"; look at {names}" if names else ""
        raise RefusedError(f"{ask.api} answers with status {answer.status}{advice}")
    attempts = int(retrying.statistics.get("attempt_number", 1))
    return replace(answer, attempts=attempts)


def _once(client: httpx.Client, ask: Ask, url: str, headers: Mapping[str, str]) -> Answer:
    began = time.monotonic()
    body, pieces, broke_off, may_pass = bytearray(), [], "", False
    with client.stream("POST", url, json=ask.request, headers=dict(headers)) as response:
        try:
            for chunk in response.iter_raw():
                pieces.append(Piece(len(chunk), round((time.monotonic() - began) * 1000)))
                body += chunk[: _HALF - len(body)]
                if len(body) >= _HALF:
                    broke_off = f"it is longer than {_HALF // 2**20} MiB"
                    break
                if time.monotonic() - began > WHOLE_S:
                    broke_off = f"it took longer than {WHOLE_S:.0f} seconds"
                    break
        except httpx.TransportError as error:
            broke_off, may_pass = type(error).__name__, True  # its words may repeat what was sent
        unpacked = _unpacked(bytes(body), response.headers.get("content-encoding", "identity"))
        came = tuple(pieces) if len(unpacked) == sum(piece.size for piece in pieces) else ()
        return Answer(response.status_code, dict(response.headers), unpacked, came, broke_off, may_pass=may_pass)


def _unpacked(body: bytes, encoding: str) -> bytes:
    """Return a body that was packed, though nobody asked for that. Raises RefusedError where it cannot be unpacked."""
    if encoding == "identity":
        return body
    try:
        if encoding not in ("gzip", "deflate"):
            raise zlib.error(encoding)
        return cassette.decompressed(body, _HALF)
    except zlib.error as error:
        raise RefusedError(f"its answers are packed in a way that is not understood ({encoding[:20]!r})") from error


def _is_busy(status: int, expected: int | None) -> bool:
    return status != expected and (status in (408, 429) or status >= 500)


def _asked_to_wait(outcome: object) -> float:
    """Return how many seconds the provider wants us to wait; 0 where it does not say."""
    failed = getattr(outcome, "failed", True)
    answer = None if failed else outcome.result()  # type: ignore[attr-defined]
    said = answer.headers.get("retry-after", "") if isinstance(answer, Answer) else ""
    return min(float(said), LONGEST_WAIT_S) if re.fullmatch(r"[0-9]{1,9}", said) else 0.0
