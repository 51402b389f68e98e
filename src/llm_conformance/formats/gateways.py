"""What proxies and gateways answer in place of a provider.

A request passes through load balancers of the provider, and through proxies, gateways and firewalls of its users. Any
of them may answer in place of the API. So these answers may come from every API, whatever its own errors look like.
"""

from __future__ import annotations

from dataclasses import dataclass

_JSON = "application/json"
_NGINX = "https://github.com/nginx/nginx/blob/master/src/http/ngx_http_special_response.c"
_ENVOY = "https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/response_code_details"
_CLOUDFLARE = "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/"
_AWS = "https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html"
_RETRY_AFTER = (429, 503)
"""RFC 9110, 10.2.3, and RFC 6585, 4: the statuses that may have Retry-After."""

_TIMEOUTS = (522, 524)
"""Cloudflare's own statuses: no connection in time (522), and no answer in time (524)."""


@dataclass(frozen=True)
class Gateway:
    """An answer of a proxy or a gateway. `content_type` is "" if there is no such header."""

    status: int
    content_type: str
    body: bytes
    source: str

    def __str__(self) -> str:
        """Return the status and "of a gateway"."""
        return f"{self.status} of a gateway"

    @property
    def may_say_when(self) -> bool:
        """Whether the answer may have the header Retry-After."""
        return self.status in _RETRY_AFTER

    @property
    def is_timeout(self) -> bool:
        """Whether its status is one of Cloudflare's own for a server that took too long."""
        return self.status in _TIMEOUTS


def _nginx(status: int, title: str) -> Gateway:
    page = (
        f"<html>\r\n<head><title>{status} {title}</title></head>\r\n<body>\r\n"
        f"<center><h1>{status} {title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    )
    return Gateway(status, "text/html", page.encode(), _NGINX)


def _cloudflare(status: int, title: str, source: str) -> Gateway:
    page = f'<!DOCTYPE html>\n<html lang="en-US"><head><title>{title}</title></head><body>Cloudflare</body></html>\n'
    return Gateway(status, "text/html; charset=UTF-8", page.encode(), source)


GATEWAYS = (
    _nginx(502, "Bad Gateway"),
    _nginx(503, "Service Temporarily Unavailable"),
    _nginx(504, "Gateway Time-out"),
    _nginx(500, "Internal Server Error"),
    _nginx(413, "Request Entity Too Large"),
    _cloudflare(520, "520: Web server is returning an unknown error", "https://github.com/crmne/ruby_llm/issues/606"),
    _cloudflare(403, "Just a moment...", "https://github.com/vitali87/code-graph-rag/issues/142"),
    Gateway(
        429,
        "text/plain; charset=UTF-8",
        b"error code: 1015",
        "https://developers.cloudflare.com/waf/rate-limiting-rules/",
    ),
    _cloudflare(524, "524: A timeout occurred", "https://github.com/ollama/ollama/issues/3694"),
    Gateway(522, "text/plain; charset=UTF-8", b"error code: 522", "https://github.com/fatwang2/search2ai/issues/12"),
    Gateway(502, "", b"", "https://pkg.go.dev/net/http/httputil#ReverseProxy: a 502 without a body"),
    Gateway(500, "text/plain; charset=utf-8", b"Internal Server Error", "https://www.starlette.io/exceptions/"),
    Gateway(
        503,
        "text/plain",
        b"upstream connect error or disconnect/reset before headers. reset reason: connection termination",
        _ENVOY,
    ),
    Gateway(504, "text/plain", b"upstream request timeout", _ENVOY),
    Gateway(504, _JSON, b'{"message": "Endpoint request timed out"}', _AWS),
    Gateway(429, _JSON, b'{"message":"Too Many Requests"}', _AWS),
)
"""Answers with an error status, the most usual first."""

LISTED = tuple({gateway.status: gateway for gateway in reversed(GATEWAYS)}.values())
"""One answer of each status."""

PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>"
"""The sign-in page of a network, which has status 200: https://github.com/harry0703/MoneyPrinterTurbo/issues/87."""
