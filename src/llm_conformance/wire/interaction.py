"""One recorded request and its answer."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.framings.registry import framing_of
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM


@dataclass(frozen=True)
class Interaction:
    """One recorded request and its answer.

    `body` is bytes as received, decompressed; header names are lower case, and none says how the body was packed.
    """

    uri: str
    request: Mapping[str, Any]
    status: int
    headers: Mapping[str, str]
    body: bytes

    @functools.cached_property
    def framing(self) -> Framing | None:
        """How the answer is put into frames, None for one document, as a refusal is unless it says otherwise."""
        framing = framing_of(self.headers.get("content-type", ""), self.body)
        return None if self.status >= 400 and framing is not EVENT_STREAM else framing

    @property
    def streamed(self) -> bool:
        """Whether the answer is a stream."""
        return self.framing is not None

    @property
    def frames(self) -> tuple[bytes, ...]:
        """The frames of a stream, or the body as it is; joined, they are the body."""
        return (self.body,) if self.framing is None else tuple(self.framing.frames(self.body))


Mode = Literal["json", "stream"]
MODES: tuple[Mode, ...] = ("json", "stream")
