"""What a framing is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Protocol

DONE = "[DONE]"
"""What stands for a document at the end of many event streams."""

FramingName = Literal["server-sent events", "lines", "array", "aws event stream", "aws chunks"]


class Framing(Protocol):
    """One of the ways. `name` is what the provider table calls it, `empty` a stream that has begun and has no frame."""

    name: FramingName
    content_type: str
    empty: bytes

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Split a stream into its frames; joined, they are the body again."""

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the JSON documents, and `DONE`. Raises ValueError where the bytes are of another form."""

    def data(self, frame: bytes) -> bytes:
        """Return the JSON text of a frame, b"" where it has none. Raises ValueError for a frame of another form."""

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return a frame with another JSON text."""
