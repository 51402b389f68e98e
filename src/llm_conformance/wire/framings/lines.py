"""One JSON document on each line: https://github.com/ndjson/ndjson-spec."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance.wire.framings.base import Choose, Frame, Framing, Writing, json_value


class Lines(Framing):
    """A JSON document on each line."""

    name = "lines"
    title = "a JSON document a line"
    content_type = "application/x-ndjson"

    def looks_like(self, body: bytes) -> bool:
        """Return True if a line that ends with `}` is followed by one that begins with `{`."""
        return bool(re.search(rb"\}\r?\n\{", body))

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield the lines with their ends.

        An empty line is part of the line before it. Empty lines at the start are part of the first line.
        """
        start = position = 0
        for line in io.BytesIO(body):
            if line.strip() and body[start:position].strip():
                yield body[start:position]
                start = position
            position += len(line)
        if start < position:
            yield body[start:]

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the document of each line that is not empty."""
        yield from (json_value(line) for line in body.split(b"\n") if line.strip())

    def data(self, frame: bytes) -> bytes:
        """Return the line without its end."""
        return frame.strip()

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the data as a line."""
        return data + b"\n"

    def write(self, frames: Sequence[Frame], writing: Writing, choose: Choose) -> list[bytes]:
        """Return the lines."""
        return [f"{frame.text(writing.escapes)}{writing.line_end}".encode() for frame in frames]


class StreamJson(Lines):
    """`Lines` with the content type of Cohere's first API."""

    name = "stream+json"
    title = "a JSON document a line, of the type application/stream+json"
    content_type = "application/stream+json"
