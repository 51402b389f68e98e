"""One recorded request and its response."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from llm_conformance import limits
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.framings.registry import framing_of
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM

Mode = Literal["json", "stream"]
MODES: tuple[Mode, ...] = ("json", "stream")


@dataclass(frozen=True)
class Interaction:
    """One recorded request and its response.

    `body` is the decompressed body of the response. The names in `headers` are in lower case, and there is no
    content-encoding or content-length.
    """

    uri: str
    request: Mapping[str, Any]
    status: int
    headers: Mapping[str, str]
    body: bytes

    @functools.cached_property
    def framing(self) -> Framing | None:
        """The framing of a stream; None for a single document. With an error status, only event streams are streams."""
        framing = framing_of(self.headers.get("content-type", ""), self.body)
        return None if self.status >= 400 and framing is not EVENT_STREAM else framing

    @property
    def streamed(self) -> bool:
        """Whether the response is a stream."""
        return self.framing is not None

    @functools.cached_property
    def too_large(self) -> str:
        """Says which of the `limits` a stream exceeds; "" if it exceeds none, and for a single document."""
        if self.framing is None or len(self.body) <= limits.LINES_OF_A_FRAME:
            return ""
        for number, frame in enumerate(self.framing.frames(self.body), start=1):
            if number > limits.FRAMES:
                return f"a stream of more than {limits.FRAMES:,} frames"
            if frame.count(b"\n") + frame.count(b"\r") > limits.LINES_OF_A_FRAME:
                return f"a stream with a frame of more than {limits.LINES_OF_A_FRAME:,} lines"
        return ""

    @property
    def frames(self) -> tuple[bytes, ...]:
        """The frames of a stream, or the body of a single document as the only item. Joined, they give the body."""
        return (self.body,) if self.framing is None else tuple(self.framing.frames(self.body))
