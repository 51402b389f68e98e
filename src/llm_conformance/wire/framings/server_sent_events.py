"""Server-sent events."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any

import sseclient

from llm_conformance.wire.framings.base import DONE, FramingName


class EventStream:
    """Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

    name: FramingName = "server-sent events"
    content_type = "text/event-stream"
    empty = b""

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield each frame with the blank line that ends it."""
        start = 0
        line_was_empty = False
        position = 0
        for line in body.splitlines(keepends=True):
            position += len(line)
            if not line.strip(b"\r\n"):
                line_was_empty = True
            elif line_was_empty:
                yield body[start : position - len(line)]
                start = position - len(line)
                line_was_empty = False
        if start < len(body):
            yield body[start:]

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the data of each event; one byte order mark may stand before a stream."""
        for event in sseclient.SSEClient(self.frames(body.removeprefix(codecs.BOM_UTF8))).events():
            yield DONE if event.data == DONE else json.loads(event.data)

    def data(self, frame: bytes) -> bytes:
        """Return the `data` lines together, b"" where they are no JSON object."""
        told = b"\n".join(line[5:] for line in frame.splitlines() if line.startswith(b"data:"))
        return told if told.strip().startswith(b"{") else b""

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the frame with all of its data in one line."""
        end = b"\r\n" if b"\r\n" in frame else b"\n"
        kept = [line for line in frame.splitlines() if line and not line.startswith(b"data:")]
        return end.join([*kept, b"data: " + data, b"", b""])


EVENT_STREAM = EventStream()
