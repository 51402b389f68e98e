"""A server on the loopback interface. It gives every request the response that was set last."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_OF_THE_CONNECTION = (
    "connection",
    "content-encoding",
    "content-length",
    "date",
    "keep-alive",
    "server",
    "set-cookie",
    "transfer-encoding",
)


class Loopback:
    """The server. Set `status`, `headers` and `body`, then call it."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: Mapping[str, str] = {}
        self.body = b""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.send_response(owner.status)
                for name, value in owner.headers.items():
                    if name.lower() not in _OF_THE_CONNECTION and "\n" not in value and value.isascii():
                        self.send_header(name, value)
                self.send_header("content-length", str(len(owner.body)))
                self.end_headers()
                self.wfile.write(owner.body)

            def log_message(self, format: str, *args: object) -> None:
                """Write no log."""

        return Handler
