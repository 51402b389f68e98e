"""Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance.wire.framings.base import DONE, Choose, Frame, Framing, Writing, json_value


class EventStream(Framing):
    """Events, each ended by a blank line. The data of an event is a document; everything else in an event is skipped.

    The reference adapters read events with a library. The suite has its own parser, so that each checks the other.
    """

    name = "server-sent events"
    title = "server-sent events"
    content_type = "text/event-stream"

    def looks_like(self, body: bytes) -> bool:
        """Return True if the first line is a field or a comment."""
        return bool(re.match(rb"(?:data|event|id|retry)?:", body.removeprefix(codecs.BOM_UTF8)))

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield each frame with the blank lines that end it."""
        start = position = 0
        line_was_empty = False
        for line in body.splitlines(keepends=True):
            if not line.strip(b"\r\n"):
                line_was_empty = True
            elif line_was_empty:
                yield body[start:position]
                start = position
                line_was_empty = False
            position += len(line)
        if start < len(body):
            yield body[start:]

    def events(self, body: bytes) -> Iterator[str]:
        r"""Yield the data of each event that has any: its `data` lines, joined by "\n".

        If the body ends within an event, the incomplete event is yielded, too. Browsers drop it, but a test suite has
        to notice that a stream breaks off. Raises ValueError for data that is not UTF-8.
        """
        data: list[str] = []
        for line in (*body.removeprefix(codecs.BOM_UTF8).splitlines(), b""):
            field, _, value = line.partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" ").decode("utf-8"))
            elif not line and data:
                yield "\n".join(data)
                data = []

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the JSON document of each event, and `DONE`."""
        return (DONE if data == DONE else json_value(data) for data in self.events(body))

    def data(self, frame: bytes) -> bytes:
        """Return the data of a frame; b"" if it is not a JSON object."""
        data = b"\n".join(line[5:] for line in frame.splitlines() if line.startswith(b"data:"))
        return data if data.strip().startswith(b"{") else b""

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the frame with new data, on one line."""
        end = b"\r\n" if b"\r\n" in frame else b"\n"
        kept = [line for line in frame.splitlines() if line and not line.startswith(b"data:")]
        return end.join([*kept, b"data: " + data, b"", b""])

    def write(self, frames: Sequence[Frame], writing: Writing, choose: Choose) -> list[bytes]:
        """Return the events.

        If the sender writes comments, one precedes the first event, and others may precede later events.
        """
        written = []
        for number, frame in enumerate(frames):
            comment = writing.comment and (writing.comment if number == 0 else choose("", "", writing.comment))
            lines = [comment, ""] if comment else []
            name = [f"event: {frame.event}"] if frame.event and writing.names != "absent" else []
            data = [f"data:{writing.space}{frame.text(writing.escapes)}"]
            lines += [*data, *name, ""] if writing.names == "behind the data" else [*name, *data, ""]
            written.append("".join(line + writing.line_end for line in lines).encode("utf-8"))
        return written


EVENT_STREAM = EventStream()
