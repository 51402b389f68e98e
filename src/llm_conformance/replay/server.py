"""The replay server: recorded responses over HTTP, on the loopback.

Each conversation has its own token in the path of its base URL, so that a late request of a hung adapter cannot reach
the next conversation. The exchanges of a conversation share the token, because libraries send ids of earlier answers
only to the server that gave the ids.

Streams are sent frame by frame. The last frame may be held back until the adapter has shown content (STR-7, see
`patience`).
"""

from __future__ import annotations

import itertools
import json
import socket
import struct
import threading
import time
from collections.abc import Collection, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from llm_conformance.calling.fair_time import FairWait
from llm_conformance.calling.place import Network
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.scenarios.scenario import Fault, Scenario
from llm_conformance.wire.interaction import Interaction

_HOST = "127.0.0.1"
PAUSES = 16
"""How many of the first pieces of a cut stream are sent with pauses, so that the client reads each of them alone."""
PAUSE_S = 0.0005
SILENCE_S = 30.0
"""The longest time, in seconds, for which a silent connection stays open. It closes earlier if the exchange ends."""
MAX_REQUEST_BYTES = 16 * 1024 * 1024
_WAY_OUT = (
    "; a library whose URL cannot be set is judged with --transport=vcr (with pytest: --conformance-transport=vcr)"
)
_NOT_SERVED = "llm-conformance: no call is open here; send a call's requests to its call.base_url, and before it ends"
_POLL_S = 0.05
"""How many seconds pass between two checks whether to shut down. `shutdown` waits for the next check."""
_HOP_BY_HOP = frozenset({"connection", "content-encoding", "content-length", "date", "server", "transfer-encoding"})


class _Server(ThreadingHTTPServer):
    """Serves on a socket that already listens, on a thread of its own."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listening: socket.socket, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(listening.getsockname(), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_address = listening.getsockname()
        self._thread = threading.Thread(target=self.serve_forever, args=(_POLL_S,), name="replay-server", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop, and free the port."""
        self.shutdown()
        self._thread.join()
        self.server_close()


class ReplayServer:
    """A transport that serves each conversation under a base URL of its own."""

    hands_over_pieces = True

    def __init__(self) -> None:
        self._exchanges: dict[str, OpenExchange] = {}
        self._tokens = itertools.count(1)
        self._http = _Server(socket.create_server((_HOST, 0)), self._handler())
        self._elsewhere: dict[Network, _Server] = {}
        self._refusing = socket.socket()  # bound but not listening, so that connections to its port are refused
        self._refusing.bind((_HOST, 0))
        self.ports: tuple[int, ...] = (self._http.server_address[1], self._refusing.getsockname()[1])

    def open(
        self,
        scenario: Scenario,
        hold_s: float = 0,
        capabilities: Collection[str] = (),
        network: Network | None = None,
        base_url: str | None = None,
    ) -> OpenExchange:
        """Serve a scenario under a new base URL, or under the base URL of an earlier exchange of the conversation."""
        token = base_url.rpartition("/")[2] if base_url else f"conversation-{next(self._tokens)}"
        listening, refusing = self.ports if network is None else self._serve_in(network).ports
        port = refusing if scenario.connection_refused else listening
        url = f"http://{_HOST}:{port}/{token}"
        exchange = OpenExchange(scenario, url, hold_s, _WAY_OUT, capabilities)
        self._exchanges[token] = exchange
        return exchange

    def close(self, exchange: OpenExchange) -> None:
        """Stop serving an exchange, and release a stream that is still held back."""
        exchange.content_shown.set()
        exchange.closed.set()
        self._exchanges.pop(exchange.base_url.rpartition("/")[2], None)

    def give_up(self, thread: int) -> None:
        """Do nothing.

        The requests of the thread are refused anyway, because they have the token of a closed exchange.
        """

    def shutdown(self) -> None:
        """Stop the server and free its port."""
        for server in (self._http, *self._elsewhere.values()):
            server.end()
        self._refusing.close()

    def _serve_in(self, network: Network) -> Network:
        """Serve in a program's own network, too. Ends the servers of programs that have ended."""
        if network not in self._elsewhere:
            for other in [each for each in self._elsewhere if each.is_closed]:
                self._elsewhere.pop(other).end()
            self._elsewhere[network] = _Server(network.listening.dup(), self._handler())
        return network

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        exchanges = self._exchanges

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # each piece is sent at once

            def do_POST(self) -> None:
                _, token, rest = [*self.path.split("/", 2), "", ""][:3]
                exchange = exchanges.get(token)
                body = self._read_body()
                if exchange is None:
                    self._send_json(404, {"error": {"message": _NOT_SERVED}})
                    return
                exchange.attempts += 1
                recording = exchange.recording_for(f"/{rest}", dict(self.headers.items()), body)
                if isinstance(recording, str):
                    self._send_json(400, {"error": {"message": f"llm-conformance: {recording}", "type": "replay"}})
                elif exchange.scenario.fault:
                    self._fail(recording, exchange, exchange.scenario.fault)
                elif recording.streamed:
                    self._send_stream(recording, exchange)
                else:
                    self._send_body(recording.status, recording.headers, recording.body)

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

            def _send_stream(self, interaction: Interaction, exchange: OpenExchange) -> None:
                self._send_head(interaction.status, interaction.headers, ("transfer-encoding", "chunked"))
                pieces = list(exchange.scenario.pieces(interaction))
                pauses = exchange.scenario.pauses_s
                for number, piece in enumerate(pieces, start=1):
                    if pauses:
                        time.sleep(pauses[number - 1])
                    if exchange.hold_s and number == len(pieces):
                        since = time.monotonic()
                        exchange.buffered = not FairWait().wait(exchange.content_shown, exchange.hold_s)
                        exchange.held_s = time.monotonic() - since
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                    if not pauses and exchange.scenario.cuts and number <= PAUSES:
                        time.sleep(PAUSE_S)
                self.wfile.write(b"0\r\n\r\n")

            def _fail(self, interaction: Interaction, exchange: OpenExchange, fault: Fault) -> None:
                """Send a part of the response, then close or reset the connection, or keep it open in silence."""
                self.close_connection = True
                if fault.after:
                    part, whole = interaction.body[: fault.after], interaction.body
                    if interaction.streamed:
                        self._send_head(interaction.status, interaction.headers, ("transfer-encoding", "chunked"))
                        self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                    else:
                        self._send_head(interaction.status, interaction.headers, ("content-length", str(len(whole))))
                        self.wfile.write(part)
                if fault.kind == "reset":
                    # Closing a socket with a linger time of 0 resets the connection.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                if fault.kind == "silence":
                    exchange.silent.set()
                    exchange.closed.wait(SILENCE_S)

            def _send_head(self, status: int, headers: Mapping[str, str], length: tuple[str, str]) -> None:
                self.send_response_only(status)
                for name, value in headers.items():
                    if name not in _HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header(*length)
                # The end of the connection is announced, because clients that keep connections across event loops would
                # reuse a dead connection. For a fault, it is not announced, because some clients take an announced end
                # for a complete response.
                if not self.close_connection:
                    self.send_header("connection", "close")
                self.end_headers()

            def handle(self) -> None:
                try:
                    super().handle()
                except (ConnectionError, ValueError, TimeoutError):
                    self.close_connection = True  # the adapter hung up or did not send HTTP; its outcome shows this

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        return Handler
