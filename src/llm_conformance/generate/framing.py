"""The bytes of responses, with the choices that a format leaves to the sender."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.wire.framings.base import Frame, Framing


@dataclass(frozen=True)
class Style:
    """How a provider writes streams."""

    framing: Framing
    line_end: str


def stream(draw: DrawFn, frames: Iterable[Frame], style: Style) -> bytes:
    """Draw the bytes of a stream."""
    return b"".join(pieces(draw, frames, style))


def pieces(draw: DrawFn, frames: Iterable[Frame], style: Style) -> list[bytes]:
    """Draw the bytes of each frame of a stream."""
    return style.framing.write(list(frames), style.line_end, functools.partial(pick, draw))


def cut_short(draw: DrawFn, whole: bytes) -> bytes:
    """Cut a frame or a body anywhere within its JSON object. The part that is left is never valid JSON."""
    start, end = whole.index(b"{"), whole.rindex(b"}")
    return whole[: start + 1 + at_most(draw, end - start - 1)]


def document(draw: DrawFn, body: Mapping[str, Any]) -> bytes:
    """Draw the bytes of a response that is not streamed."""
    return json.dumps(body, ensure_ascii=either(draw)).encode("utf-8")
