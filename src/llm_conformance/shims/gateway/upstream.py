"""The upstream of a gateway: a fixed port that forwards to the exchange of the current call.

A gateway gets the URL of its upstream once, but each call of the suite has its own URL. So the upstream changes the
path of the request, and nothing else. It forwards the bytes of the answer unchanged. If the replay resets the
connection, the upstream does so, too.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

_HOST = "127.0.0.1"
_MOST_HEAD = 1024 * 1024


class Upstream:
    """A port of the loopback, `url`, that forwards to the exchange of the current call.

    Attributes:
        requests: The number of requests since the start of the current call.
        answered_whole: Whether the last request got a complete answer with a status below 400.
    """

    def __init__(self) -> None:
        self._socket = socket.create_server((_HOST, 0))
        self.url = f"http://{_HOST}:{self._socket.getsockname()[1]}"
        self.requests = 0
        self.answered_whole = False
        self._base: str | None = None
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, name="gateway-upstream", daemon=True).start()

    @contextlib.contextmanager
    def leads_to(self, base_url: str) -> Iterator[None]:
        """Forward to a URL within the `with` block. Then close all connections, so that no late request goes on."""
        self._base, self.requests, self.answered_whole = base_url, 0, False
        try:
            yield
        finally:
            self._base = None
            for each in tuple(self._open):
                _close(each)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Forward one request and its answer, and close the connection."""
        self._open.add(client)
        reset = False
        try:
            head = _head(client)
            base = self._base  # some gateways connect before they send
            if base is None or not head:
                return
            self.requests += 1
            self.answered_whole = False
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._forward(client, head, base)
        except OSError:  # reset by the replay, refused by it, or given up by the gateway
            reset = True
        finally:
            self._open.discard(client)
            _close(client, reset=reset)

    def _forward(self, client: socket.socket, head: bytes, base_url: str) -> None:
        """Send a request on to the exchange at a URL, and its answer back.

        Raises OSError if either side breaks off.
        """
        place = urlsplit(base_url)
        with socket.create_connection((place.hostname, place.port)) as server:
            method, _, rest = head.partition(b" ")
            server.sendall(method + b" " + place.path.encode() + rest)
            pump = threading.Thread(target=_pump, args=(client, server), daemon=True)
            pump.start()
            try:
                answer = b""
                while piece := server.recv(65536):
                    answer += piece
                    # This comes before the last piece is sent, because the gateway may answer as soon as it has that
                    # piece.
                    self.answered_whole = _is_whole(answer)
                    client.sendall(piece)
            finally:
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_RD)  # ends the pump, because a socket only closes when nobody uses it
                pump.join()


def _is_whole(answer: bytes) -> bool:
    """Return True if an answer has a status below 400 and its body is as long as its head says."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *fields = head.lower().split(b"\r\n")
    lengths = [int(each.partition(b":")[2]) for each in fields if each.startswith(b"content-length:")]
    is_all = len(body) == lengths[0] if lengths else body.endswith(b"0\r\n\r\n")
    return is_all and first.split(b" ")[1:2] < [b"400"]


def _head(client: socket.socket) -> bytes:
    """Return the bytes of a request up to the end of its head, and any bytes that came along; b"" for no request."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _MOST_HEAD:
        piece = client.recv(65536)
        if not piece:
            return b""
        head += piece
    return head


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Forward the rest of a request."""
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def _close(each: socket.socket, *, reset: bool = False) -> None:
    with contextlib.suppress(OSError):
        if reset:  # closing a socket with a linger time of 0 resets the connection
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            each.shutdown(socket.SHUT_RDWR)
    each.close()
