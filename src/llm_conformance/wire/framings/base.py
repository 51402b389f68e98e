"""The interface of a framing."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

T = TypeVar("T")

DONE = "[DONE]"
"""What many event streams send after their last document."""


@dataclass(frozen=True)
class Frame:
    """A frame to be written.

    Attributes:
        data: A document, or text to be sent as it is (`DONE`).
        event: The name of the event, for framings that have event names.
        ends: Whether the response is complete with this frame.
    """

    data: Mapping[str, Any] | str
    event: str | None = None
    ends: bool = False

    def text(self, escaped: bool) -> str:
        r"""Return the data as text; with `escaped`, characters beyond ASCII are written as `\uXXXX`."""
        return self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=escaped)


class Choose(Protocol):
    """Choose one of several ways to write the same; the first is the simplest."""

    def __call__(self, *ways: T) -> T:
        """Return one of the ways."""


class Framing(ABC):
    """A way to put the documents of a stream into bytes.

    Attributes:
        name: What provider files call it.
        title: What "streams are ..." on the page of providers ends with.
        content_type: The content type of responses in this framing, in lower case.
        empty: The body of a stream that has begun and has no frame yet.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    content_type: ClassVar[str]
    empty: ClassVar[bytes] = b""

    def __repr__(self) -> str:
        """Return the name: the same in every process, because a digest of the provider table depends on it."""
        return self.name

    def fits(self, body: bytes) -> bool:
        """Return True if a body of this content type is in this framing; it may also be a single document."""
        return True

    @abstractmethod
    def looks_like(self, body: bytes) -> bool:
        """Return True if a body without a content type seems to be in this framing."""

    @abstractmethod
    def frames(self, body: bytes) -> Iterator[bytes]:
        """Split a stream into its frames. Joined, they are the body again, even if it is malformed or cut off."""

    @abstractmethod
    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the JSON documents, and `DONE`. Raises ValueError if the body is malformed."""

    @abstractmethod
    def data(self, frame: bytes) -> bytes:
        """Return the JSON text of a frame, b"" if it has none. Raises ValueError if the frame is malformed."""

    @abstractmethod
    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return a frame with another JSON text. Raises ValueError if either is malformed."""

    @abstractmethod
    def write(self, frames: Sequence[Frame], line_end: str, choose: Choose) -> list[bytes]:
        """Return the bytes of each frame; `choose` decides where the framing leaves the sender a choice."""
