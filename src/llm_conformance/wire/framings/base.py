"""The interface of a framing."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar

T = TypeVar("T")

DONE = "[DONE]"
"""The data that many event streams send after their last document."""


@dataclass(frozen=True)
class Frame:
    """A frame to be written.

    Attributes:
        data: A document, or a text that is sent unchanged (`DONE`).
        event: The name of the event, for framings that have event names.
        ends: Whether the response is complete with this frame.
    """

    data: Mapping[str, Any] | str
    event: str | None = None
    ends: bool = False

    def text(self, escapes: Escapes) -> str:
        """Return the data as text."""
        return self.data if isinstance(self.data, str) else json_text(self.data, escapes)


Escapes = Literal["none", "markup", "markup and controls", "beyond ASCII"]
r"""Which characters are written as `\uXXXX` although JSON does not require it.

`none`: no characters. `markup`: `<`, `>`, `&`, U+2028 and U+2029. `markup and controls`: these and U+007F to U+009F.
`beyond ASCII`: all characters beyond ASCII.
"""

_ESCAPED = {
    "markup": re.compile("[<>&\u2028\u2029]"),
    "markup and controls": re.compile("[<>&\u2028\u2029\x7f-\x9f]"),
}


def json_text(value: Any, escapes: Escapes) -> str:
    """Return a value as JSON text."""
    text = json.dumps(value, ensure_ascii=escapes == "beyond ASCII")
    # In JSON text these characters occur only in strings, so they can be replaced everywhere.
    return _ESCAPED[escapes].sub(lambda found: f"\\u{ord(found[0]):04x}", text) if escapes in _ESCAPED else text


@dataclass(frozen=True)
class Writing:
    """The choices that a framing and JSON leave to a sender.

    Attributes:
        escapes: What is escaped in JSON.
        line_end: What ends a line.
        space: What is between `data:` and the data of an event.
        comment: The comment to write before some events, including its colon; "" for no comments.
        names: Where the name of an event is written: `before the data`, `behind the data`, or `absent`.
        comma: What is between the items of a list.
    """

    escapes: Escapes = "none"
    line_end: str = "\n"
    space: str = " "
    comment: str = ""
    names: str = "before the data"
    comma: str = ",\n"


class Choose(Protocol):
    """Chooses one of several equivalent ways to write something. The first way is the simplest."""

    def __call__(self, *ways: T) -> T:
        """Return one of the ways."""


def json_value(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError if it is not JSON; NaN and Infinity are not."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


Clean = Callable[[str], str]
"""Returns a text without secrets."""


def cleaned_text(data: bytes, clean: Clean) -> bytes:
    """Return the bytes of a text without secrets. Some of the bytes may not be UTF-8."""
    return clean(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


class Framing(ABC):
    """A way to put the documents of a stream into bytes.

    Attributes:
        name: Its name in provider files.
        title: The end of the sentence "streams are ..." on the pages of providers.
        content_type: The content type of responses in this framing, in lower case.
        empty: The body of a stream that has started but has no frame yet.
        is_binary: Whether frames are binary. Only `texts` and `cleaned` find the texts of binary frames.
        is_like_plain: Whether a plain answer has the same content type.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    content_type: ClassVar[str]
    empty: ClassVar[bytes] = b""
    is_binary: ClassVar[bool] = False
    is_like_plain: ClassVar[bool] = False

    def __repr__(self) -> str:
        """Return the name. A digest of the provider table needs a text that is the same in every process."""
        return self.name

    def fits(self, body: bytes) -> bool:
        """Return True if a body of this content type is in this framing, and not a single document."""
        return True

    @abstractmethod
    def looks_like(self, body: bytes) -> bool:
        """Return True if a body without a content type seems to be in this framing."""

    @abstractmethod
    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield the frames of a stream. Joined, they give the body again, even if it is malformed or cut off."""

    @abstractmethod
    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the JSON documents, and `DONE`. Raises ValueError if the body is malformed."""

    @abstractmethod
    def data(self, frame: bytes) -> bytes:
        """Return the JSON text of a frame; b"" if it has none. Raises ValueError if the frame is malformed."""

    @abstractmethod
    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return a frame with a new JSON text. Raises ValueError if the frame or the text is malformed."""

    def texts(self, frame: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield (name of the place, text) for all texts in a frame. Raises ValueError for an unreadable text."""
        yield "", self.data(frame)

    def cleaned(self, body: bytes, clean: Clean) -> bytes:
        """Return a body without secrets in its texts. Raises ValueError for a secret that cannot be removed."""
        return cleaned_text(body, clean)

    @abstractmethod
    def write(self, frames: Sequence[Frame], writing: Writing, choose: Choose) -> list[bytes]:
        """Return the bytes of each frame; `choose` makes the choices that may differ from frame to frame."""
