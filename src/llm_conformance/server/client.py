"""Send requests to a server, one after the other, and keep the answers byte for byte.

The key goes only to the given host: the client follows no redirects, and uses neither proxies nor `.netrc`.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from llm_conformance.calling.exceptions.facts import chain_of
from llm_conformance.limits import BYTES as MAX_BYTES
from llm_conformance.server.apis.wire_api import WireApi
from llm_conformance.server.plan import Request
from llm_conformance.server.time_limit import time_limit

CONNECT_S = 20.0
_LONGEST_BODY = MAX_BYTES // 2
_ANY_BODY, _EACH_TOKEN = 512 * 1024, 4 * 1024
"""An answer may have the first number of bytes, plus the second for each token.

In a stream, a token takes a few hundred bytes.
"""
_DROPPED_AFTER = 1
"""How many pieces of a stream are read before it is dropped."""


class NoAnswerError(Exception):
    """The server cannot be reached; the message says why."""


@dataclass(frozen=True)
class Raw:
    """An answer as it arrived.

    Attributes:
        status: 0 if no answer came.
        arrival: The size in bytes of each piece of the body, and the milliseconds from the request to its arrival.
        ended: `closed` if the body is complete; `open` if the server did not end the body within the time limit, or did
            not even start it (status 0); `broken: <reason>` if the connection broke or the body is too long.
        milliseconds: The milliseconds from the request to the end of the body.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    arrival: tuple[tuple[int, int], ...]
    ended: str
    milliseconds: int


@dataclass(frozen=True)
class Client:
    """Sends requests.

    Attributes:
        url: The whole URL.
        key: The key; "" for no key.
        api: The wire format.
        timeout_s: The time limit for a whole answer, in seconds.
        headers: Further headers of every request.
    """

    url: str
    key: str
    timeout_s: float
    headers: Mapping[str, str]
    api: WireApi
    http: httpx.Client

    def ask(self, request: Request) -> Raw:
        """Send a request. Raises NoAnswerError if there is no connection."""
        if request.cancels:
            self._drop(request)
        return self._sent(request)

    def _sent(self, request: Request) -> Raw:
        start = time.monotonic()
        body, arrival, ended = bytearray(), [], "closed"
        response: httpx.Response | None = None
        longest = _longest(request)

        def elapsed() -> int:
            return round((time.monotonic() - start) * 1000)

        try:
            with self._asked(request, request.content) as response:
                for data in response.iter_raw():
                    arrival.append((len(data), elapsed()))
                    body += data[: longest - len(body)]
                    if len(body) >= longest:
                        ended = "broken: it is too long"
                        break
                    if elapsed() > self.timeout_s * 1000:
                        ended = "open"
                        break
        except httpx.ConnectError as error:
            raise NoAnswerError(_no_connection(error)) from error
        except httpx.TimeoutException:
            ended = "open"
        except httpx.TransportError as error:  # the error's message may repeat a secret that was sent
            ended = "open" if elapsed() >= self.timeout_s * 1000 else f"broken: {type(error).__name__}"
        status, headers = (0, {}) if response is None else (response.status_code, dict(response.headers))
        return Raw(status, headers, bytes(body), tuple(arrival), ended, elapsed())

    def _drop(self, request: Request) -> None:
        """Send the request for a stream, and close the connection after the first bytes of the answer."""
        try:
            with self._asked(request, request.dropped) as response:
                for number, _ in enumerate(response.iter_raw(), start=1):
                    if number == _DROPPED_AFTER:
                        break
        except httpx.TransportError:
            return  # the next request shows whether the server still answers

    @contextmanager
    def _asked(self, request: Request, content: bytes) -> Iterator[httpx.Response]:
        """Send a request. Yield the answer before its body is read."""
        headers = self._headers(request)
        with (
            time_limit(self.timeout_s) as extensions,
            self.http.stream("POST", self.url, content=content, headers=headers, extensions=extensions) as response,
        ):
            yield response

    def _headers(self, request: Request) -> dict[str, str]:
        accepted = self.api.framing.content_type if request.mode == "stream" else "application/json"
        return {
            "content-type": "application/json",
            "accept": accepted,
            "accept-encoding": "identity",
            **self.api.credentials(request.wrong_key or self.key),
            **self.headers,
        }


def _no_connection(error: httpx.ConnectError) -> str:
    """Return why there is no connection, and what to do."""
    causes = list(chain_of(error))
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return "its certificate is not trusted; name the authority in the environment variable SSL_CERT_FILE"
    if any(isinstance(each, ssl.SSLError) for each in causes):
        return "it does not speak TLS; is it at http:// instead?"
    if any(isinstance(each, socket.gaierror) for each in causes):
        return "this machine finds no such host; is the name right?"
    return f"no connection ({type(error).__name__}); is the server running there?"


def _longest(request: Request) -> int:
    """Return how many bytes of an answer are read at most. The request counts, too, because an error may repeat it."""
    return min(_LONGEST_BODY, _ANY_BODY + _EACH_TOKEN * request.tokens + 4 * len(request.content))


@contextmanager
def client(url: str, key: str, timeout_s: float, headers: Mapping[str, str], api: WireApi) -> Iterator[Client]:
    """Yield a client, and close its connections at the end."""
    timeout = httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
    # Each request has its own connection, because a server may close an idle one just when the next request is sent.
    limits = httpx.Limits(max_keepalive_connections=0)
    needs_certificates = not url.startswith("http://")  # loading them takes a second
    with httpx.Client(
        timeout=timeout, limits=limits, follow_redirects=False, trust_env=False, verify=needs_certificates
    ) as http:
        yield Client(url, key, timeout_s, headers, api, http)
