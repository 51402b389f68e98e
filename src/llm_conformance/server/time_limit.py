"""A time limit for a whole exchange.

httpx's timeouts do not suffice. They are for each read, and a server may send byte by byte.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Trace = Callable[[str, Mapping[str, Any]], None]
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


@contextmanager
def time_limit(seconds: float) -> Iterator[dict[str, Trace]]:
    """Shut down the connection of a request after some seconds, so that a waiting read raises an error.

    Yields the `extensions` of the request. Through them, httpx reports its connection
    (https://www.python-httpx.org/advanced/extensions/#trace).
    """
    streams: list[Any] = []

    def trace(event: str, info: Mapping[str, Any]) -> None:
        if event in _CONNECTED:
            streams.append(info["return_value"])

    def shut_down() -> None:
        for stream in streams:
            with contextlib.suppress(OSError):  # it is already closed, or TLS has taken it over
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, shut_down)
    timer.daemon = True
    timer.start()
    try:
        yield {"trace": trace}
    finally:
        timer.cancel()
