"""One JSON array that is sent item by item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance.wire.framings.base import Choose, Frame, Framing, Writing, json_value

_ARRAY_WITH_ITEMS = re.compile(rb"\s*\[(?!\s*\])")


class Array(Framing):
    """A JSON array of objects, sent item by item: Gemini's streams for clients that do not ask for `alt=sse`."""

    name = "array"
    title = "one JSON list, which grows"
    content_type = "application/json"
    is_like_plain = True
    empty = b"["

    def fits(self, body: bytes) -> bool:
        """Return True for an array with items. An empty array, like any other body, is a single document."""
        return bool(_ARRAY_WITH_ITEMS.match(body))

    looks_like = fits

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield each item with the comma or bracket before it, the last item also with the bracket after it."""
        ends = list(self._ends(body))
        for start, end in zip([0, *ends], ends[:-1], strict=False):
            yield body[start:end]
        yield body[ends[-2] if len(ends) > 1 else 0 :]

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the items. The closing bracket may be missing, for example if the stream breaks off."""
        yield from (json_value(data) for data in map(self.data, self.frames(body)) if data)

    def data(self, frame: bytes) -> bytes:
        """Return the item."""
        return frame.strip(b"[], \r\n\t")

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the frame with a new item."""
        before, _, after = frame.partition(self.data(frame))
        return before + data + after

    def write(self, frames: Sequence[Frame], writing: Writing, choose: Choose) -> list[bytes]:
        """Return the items. The frame that ends the response closes the array."""
        before = ["[", *[writing.comma] * (len(frames) - 1)]
        return [
            f"{mark}{frame.text(writing.escapes)}{']' if frame.ends else ''}".encode()
            for mark, frame in zip(before, frames, strict=False)
        ]

    def _ends(self, body: bytes) -> Iterator[int]:
        """Yield the byte offset at which each item ends; stops at the first item that is not a JSON object."""
        text, position, size = body.decode("utf-8", "surrogateescape"), 0, 0
        decoder = json.JSONDecoder()
        while (start := text.find("{", position)) >= 0:
            try:
                end = decoder.raw_decode(text, start)[1]
            except (ValueError, RecursionError):
                return
            size += len(text[position:end].encode("utf-8", "surrogateescape"))
            position = end
            yield size
