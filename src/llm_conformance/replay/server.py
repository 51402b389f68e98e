"""The replay server: recorded answers over a real socket, on the loopback.

Every exchange has a token of its own in the path of its base URL, so that nothing is shared between scenarios and a
late request of a hung adapter harms nobody. Streams go out frame by frame, and the last frame is held back until the
adapter has shown some content, or for `PATIENCE_S` seconds (STR-7).
"""

from __future__ import annotations

import itertools
import json
import socket
import struct
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from llm_conformance.replay.matching import Serving
from llm_conformance.scenarios.scenario import Fault, Scenario
from llm_conformance.wire.interaction import Interaction

_HOST = "127.0.0.1"
PATIENCE_S = 2.0
PAUSES = 16
"""How many pieces of a stream that is cut in an odd way wait a moment for the client to have read the last one."""
PAUSE_S = 0.0005
SILENCE_S = 30.0
_LOOKS_EVERY_S = 0.05
MAX_REQUEST_BYTES = 16 * 1024 * 1024
_HOP_BY_HOP = frozenset({"connection", "content-encoding", "content-length", "date", "server", "transfer-encoding"})


class ReplayServer:
    """The server of one worker process; `open` and `close` an exchange around each call."""

    hands_over_pieces = True

    def __init__(self) -> None:
        self._servings: dict[str, Serving] = {}
        self._tokens = itertools.count(1)
        self._http = ThreadingHTTPServer((_HOST, 0), self._handler())
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._nobody = socket.socket()  # a port that is taken, and that nobody listens at
        self._nobody.bind((_HOST, 0))
        self.ports: tuple[int, ...] = (self._http.server_address[1], self._nobody.getsockname()[1])
        # Who shuts it down waits for it to look whether it is to go on: not for the half second that is usual.
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_LOOKS_EVERY_S,), name="replay-server", daemon=True
        )
        self._thread.start()

    def open(self, scenario: Scenario, holds: bool = False) -> Serving:
        """Start serving a scenario under a base URL of its own; `holds` the last frame of a stream back (STR-7)."""
        token = f"exchange-{next(self._tokens)}"
        listening, deserted = self.ports
        port = deserted if scenario.connection_refused else listening
        serving = Serving(scenario, f"http://{_HOST}:{port}/{token}", holds)
        self._servings[token] = serving
        return serving

    def close(self, serving: Serving) -> None:
        """Stop serving an exchange, and let go of a stream that is still held back."""
        serving.content_seen.set()
        serving.over.set()
        self._servings.pop(serving.base_url.rpartition("/")[2], None)

    def give_up(self, thread: int) -> None:
        """Nothing is left to do: its requests bear the token of an exchange that is over."""

    def shutdown(self) -> None:
        """Stop the server and free its port."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        self._nobody.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        servings = self._servings

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # a piece is a packet

            def do_POST(self) -> None:
                _, token, rest = [*self.path.split("/", 2), "", ""][:3]
                serving = servings.get(token)
                body = self._read_body()
                if serving is None:
                    self._send_json(404, {"error": {"message": "llm-conformance: this base URL is not served now"}})
                    return
                serving.requests += 1
                chosen = serving.choose(f"/{rest}", dict(self.headers.items()), body)
                if isinstance(chosen, str):
                    self._send_json(400, {"error": {"message": f"llm-conformance: {chosen}", "type": "replay"}})
                elif serving.scenario.fault:
                    self._fail(chosen, serving, serving.scenario.fault)
                elif chosen.streamed:
                    self._send_stream(chosen, serving)
                else:
                    self._send_body(chosen.status, chosen.headers, chosen.body)

            def do_GET(self) -> None:
                self._send_json(404, {"error": {"message": "llm-conformance: only recorded POST requests are served"}})

            def _read_body(self) -> bytes:
                if "chunked" in self.headers.get("transfer-encoding", ""):
                    return b"".join(iter(self._read_chunk, b""))
                return self.rfile.read(min(int(self.headers.get("content-length") or 0), MAX_REQUEST_BYTES))

            def _read_chunk(self) -> bytes:
                size = int(self.rfile.readline().partition(b";")[0], 16)
                data = self.rfile.read(size)
                self.rfile.readline()
                return data

            def _send_json(self, status: int, document: Mapping[str, Any]) -> None:
                self._send_body(status, {"content-type": "application/json"}, json.dumps(document).encode())

            def _send_body(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
                self._send_head(status, headers, ("content-length", str(len(body))))
                self.wfile.write(body)

            def _send_stream(self, interaction: Interaction, serving: Serving) -> None:
                self._send_head(interaction.status, interaction.headers, ("transfer-encoding", "chunked"))
                pieces = list(serving.scenario.pieces(interaction))
                pauses = serving.scenario.pauses_s
                for number, piece in enumerate(pieces, start=1):
                    if pauses:
                        time.sleep(pauses[number - 1])
                    if serving.holds and number == len(pieces):
                        serving.buffered = not serving.content_seen.wait(PATIENCE_S)
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                    if not pauses and serving.scenario.cuts and number <= PAUSES:
                        time.sleep(PAUSE_S)
                self.wfile.write(b"0\r\n\r\n")

            def _fail(self, interaction: Interaction, serving: Serving, fault: Fault) -> None:
                """Send a part of the answer; then close the connection, or leave it open without a word."""
                self.close_connection = True
                if fault.after:
                    sent, whole = interaction.body[: fault.after], interaction.body
                    if interaction.streamed:
                        self._send_head(interaction.status, interaction.headers, ("transfer-encoding", "chunked"))
                        self.wfile.write(b"%x\r\n%b\r\n" % (len(sent), sent))
                    else:
                        self._send_head(interaction.status, interaction.headers, ("content-length", str(len(whole))))
                        self.wfile.write(sent)
                if fault.kind == "reset":
                    # Closed with a linger of no time, a connection ends in a reset.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                if fault.kind == "silence":
                    serving.over.wait(SILENCE_S)

            def _send_head(self, status: int, headers: Mapping[str, str], length: tuple[str, str]) -> None:
                self.send_response_only(status)
                for name, value in headers.items():
                    if name not in _HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header(*length)
                # A client that caches connections across event loops would reuse a dead one. What breaks off is not
                # announced: to some clients an announced end is an end, whatever is missing.
                if not self.close_connection:
                    self.send_header("connection", "close")
                self.end_headers()

            def handle(self) -> None:
                try:
                    super().handle()
                except (ConnectionError, ValueError, TimeoutError):
                    self.close_connection = True  # the adapter hung up, or spoke no HTTP: its outcome tells

            def log_message(self, *_: Any) -> None:
                """Say nothing on stderr."""

        return Handler
