"""Server-sent events, with the freedom that the format leaves to who sends them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import either, pick

_COMMENTS = ("", "", "", ": keep-alive", ":")


@dataclass(frozen=True)
class Frame:
    """One event of a stream: a document, or text as it stands (`[DONE]`).

    Attributes:
        ends: Whether it says that the answer is whole.
    """

    data: Mapping[str, Any] | str
    event: str | None = None
    ends: bool = False


def stream(draw: DrawFn, frames: Iterable[Frame], line_end: str = "\n") -> bytes:
    """Draw the bytes of a stream."""
    return b"".join(pieces(draw, frames, line_end))


def pieces(draw: DrawFn, frames: Iterable[Frame], line_end: str = "\n") -> list[bytes]:
    """Draw the bytes of each frame of a stream.

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
        data = frame.data if isinstance(frame.data, str) else json.dumps(frame.data, ensure_ascii=escaped)
        lines += [f"data:{space}{data}", ""]
        written.append("".join(line + line_end for line in lines).encode("utf-8"))
    return written


def document(draw: DrawFn, body: Mapping[str, Any]) -> bytes:
    """Draw the bytes of a plain answer."""
    return json.dumps(body, ensure_ascii=either(draw)).encode("utf-8")
