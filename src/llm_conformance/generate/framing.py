"""The bytes of answers, with the freedom that a format leaves to who sends them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.wire.framings.aws_event_stream import aws_message
from llm_conformance.wire.framings.base import FramingName

_COMMENTS = ("", "", "", ": keep-alive", ":")


@dataclass(frozen=True)
class Frame:
    """One event of a stream: a document, or text as it stands (`[DONE]`).

    Attributes:
        event: Its name, where the framing has names.
        ends: Whether it says that the answer is whole.
    """

    data: Mapping[str, Any] | str
    event: str | None = None
    ends: bool = False

    def written(self, escaped: bool) -> str:
        """Return the data; characters beyond ASCII may be `escaped`."""
        return self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=escaped)


@dataclass(frozen=True)
class Style:
    """How a provider writes streams: the framing, and how lines end in it."""

    framing: FramingName = "server-sent events"
    line_end: str = "\n"


def stream(draw: DrawFn, frames: Iterable[Frame], style: Style) -> bytes:
    """Draw the bytes of a stream."""
    return b"".join(pieces(draw, frames, style))


def pieces(draw: DrawFn, frames: Iterable[Frame], style: Style) -> list[bytes]:
    """Draw the bytes of each frame of a stream."""
    return _WRITERS[style.framing](draw, list(frames), style.line_end)


def cut_short(draw: DrawFn, whole: bytes) -> bytes:
    """Cut a frame, or a body, anywhere in its JSON object: no beginning of one is JSON."""
    start, end = whole.index(b"{"), whole.rindex(b"}")
    return whole[: start + 1 + at_most(draw, end - start - 1)]


def document(draw: DrawFn, body: Mapping[str, Any]) -> bytes:
    """Draw the bytes of a plain answer."""
    return json.dumps(body, ensure_ascii=either(draw)).encode("utf-8")


def _events(draw: DrawFn, frames: list[Frame], line_end: str) -> list[bytes]:
    """Draw server-sent events.

    Comments may stand between frames, the space behind `data:` may be missing, and characters beyond ASCII may be
    escaped, as each provider likes it.
    """
    space = pick(draw, " ", " ", "")
    escaped = either(draw)
    written = []
    for frame in frames:
        comment = pick(draw, *_COMMENTS)
        lines = [comment, ""] if comment else []
        lines += [f"event: {frame.event}"] if frame.event else []
        lines += [f"data:{space}{frame.written(escaped)}", ""]
        written.append("".join(line + line_end for line in lines).encode("utf-8"))
    return written


def _lines(draw: DrawFn, frames: list[Frame], line_end: str) -> list[bytes]:
    escaped = either(draw)
    return [f"{frame.written(escaped)}{line_end}".encode() for frame in frames]


def _array(draw: DrawFn, frames: list[Frame], line_end: str) -> list[bytes]:
    """Draw a list, which is closed behind the frame that ends the answer."""
    escaped = either(draw)
    between = pick(draw, f",{line_end}", ",")
    before = ["[", *[between] * (len(frames) - 1)]
    return [
        f"{mark}{frame.written(escaped)}{']' if frame.ends else ''}".encode()
        for mark, frame in zip(before, frames, strict=False)
    ]


def _aws(draw: DrawFn, frames: list[Frame], _line_end: str) -> list[bytes]:
    escaped = either(draw)
    return [aws_message(_aws_headers(frame.event or ""), frame.written(escaped).encode()) for frame in frames]


def _aws_chunks(draw: DrawFn, frames: list[Frame], _line_end: str) -> list[bytes]:
    """Draw messages with the documents of a model's own format in base64."""
    escaped = either(draw)
    return [
        aws_message(_aws_headers("chunk"), json.dumps({"bytes": base64.b64encode(told).decode("ascii")}).encode())
        for told in (frame.written(escaped).encode() for frame in frames)
    ]


def _aws_headers(event: str) -> Mapping[str, str]:
    kind = "exception" if event.endswith("Exception") else "event"
    return {f":{kind}-type": event, ":content-type": "application/json", ":message-type": kind}


_WRITERS: Mapping[FramingName, Callable[[DrawFn, list[Frame], str], list[bytes]]] = {
    "server-sent events": _events,
    "lines": _lines,
    "array": _array,
    "aws event stream": _aws,
    "aws chunks": _aws_chunks,
}
