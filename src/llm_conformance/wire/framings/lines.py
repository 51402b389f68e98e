"""One JSON document a line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from llm_conformance.wire.framings.base import FramingName


class Lines:
    """A JSON document a line: https://github.com/ndjson/ndjson-spec."""

    name: FramingName = "lines"
    content_type = "application/x-ndjson"
    empty = b""

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield the lines, each with its end; empty ones belong to the line before, at the beginning to the first."""
        start = position = 0
        for line in io.BytesIO(body):
            if line.strip() and body[start:position].strip():
                yield body[start:position]
                start = position
            position += len(line)
        if start < position:
            yield body[start:]

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield what stands in each line; empty ones say nothing."""
        yield from (json.loads(line) for line in body.split(b"\n") if line.strip())

    def data(self, frame: bytes) -> bytes:
        """Return the line without its end."""
        return frame.strip()

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return another line."""
        return data + b"\n"
