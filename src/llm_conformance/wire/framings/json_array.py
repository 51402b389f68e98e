"""One JSON array that is sent item by item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from llm_conformance.wire.framings.base import FramingName


class Array:
    """One JSON list that is sent item by item: Gemini's streams, where nobody asks for events (`alt=sse`)."""

    name: FramingName = "array"
    content_type = "application/json"
    empty = b"["

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield each item with what stands before it, the last with what closes the list."""
        ends = list(self._ends(body))
        for start, end in zip([0, *ends], ends[:-1], strict=False):
            yield body[start:end]
        yield body[ends[-2] if len(ends) > 1 else 0 :]

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the items; a list that nobody closes is one that breaks off."""
        yield from (json.loads(data) for data in map(self.data, self.frames(body)) if data)

    def data(self, frame: bytes) -> bytes:
        """Return the item."""
        return frame.strip(b"[], \r\n\t")

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the frame with another item."""
        before, _, after = frame.partition(self.data(frame))
        return before + data + after

    def _ends(self, body: bytes) -> Iterator[int]:
        """Yield where each item ends, as far as they are JSON objects."""
        text, position, size = body.decode("utf-8", "surrogateescape"), 0, 0
        reader = json.JSONDecoder()
        while (start := text.find("{", position)) >= 0:
            try:
                end = reader.raw_decode(text, start)[1]
            except (ValueError, RecursionError):
                return
            size += len(text[position:end].encode("utf-8", "surrogateescape"))
            position = end
            yield size


_LIST = re.compile(rb"\s*\[(?!\s*\])")  # one without items is no stream
