"""A gateway for OpenAI's chat API: `python gateway.py PORT UPSTREAM [FAULT]`. Each fault is a way to be wrong."""

from __future__ import annotations

import http.client
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

UPSTREAM = urlsplit(sys.argv[2])
FAULT = sys.argv[3] if len(sys.argv) > 3 else ""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._send(200, b"up")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if FAULT == "refuses":
            self._send(400, b'{"error": {"message": "no such field"}}')
            return
        asked = http.client.HTTPConnection(UPSTREAM.netloc, timeout=5)
        headers = {"content-type": "application/json", "authorization": self.headers["authorization"]}
        try:
            asked.request("POST", "/chat/completions", body, headers)
            answer = asked.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException):
            self._send(502, b'{"error": {"message": "the upstream broke off"}}')
            return
        if FAULT == "drops":
            raw = raw.replace(b'"content"', b'"contents"')
        if not raw.strip().startswith((b"{", b"data:", b":")):
            self._send(502, b'{"error": {"message": "the upstream sends no JSON"}}')
            return
        retry = answer.headers["retry-after"]
        self._send(answer.status, raw, {} if retry is None else {"retry-after": retry})

    def _send(self, status: int, raw: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
