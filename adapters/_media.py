"""Images and speech of Gemini's APIs. Streamed speech comes in pieces."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from llm_conformance.contract import Attachment, StreamEvent

from ._answer import Answer


class Media:
    """Collects the media of an answer. Consecutive pieces of streamed speech are one attachment."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._unspoken = b""

    def feed(self, type: str | None, data: str, **metadata: Any) -> Iterator[StreamEvent]:
        """Take a whole file, or a piece of speech if the answer is streamed."""
        if self._answer.call.stream and type and type.startswith("audio/"):
            yield from self._feed_speech(type, data)
        else:
            yield from self._feed_file(type, data, metadata)

    def _feed_file(self, type: str | None, data: str, metadata: Mapping[str, Any]) -> Iterator[StreamEvent]:
        yield from self.end()
        answer = self._answer
        attachment = Attachment(
            id=f"media-{len(answer.attachments)}",
            type=type,
            data=data,
            text_index=len(answer.message),
            metadata=metadata,
        )
        answer.attachments.append(attachment)
        yield StreamEvent("response.media", attachment={"id": attachment.id, "type": type, "data": data})

    def _feed_speech(self, type: str, data: str) -> Iterator[StreamEvent]:
        """Take a piece of streamed speech. Consecutive pieces of one type are one attachment.

        Each piece is base64 with padding, and such texts cannot be joined. So this method passes on whole groups of
        three bytes, and keeps the other bytes for the next piece.
        """
        attachments = self._answer.attachments
        if not attachments or attachments[-1].type != type:
            yield from self._feed_file(type, "", {})
        spoken = self._unspoken + base64.b64decode(data)
        whole = len(spoken) - len(spoken) % 3
        self._unspoken = spoken[whole:]
        yield from self._speak(spoken[:whole])

    def end(self) -> Iterator[StreamEvent]:
        """Pass on the rest of the speech."""
        if self._unspoken:
            left, self._unspoken = self._unspoken, b""
            yield from self._speak(left)

    def _speak(self, spoken: bytes) -> Iterator[StreamEvent]:
        last = self._answer.attachments[-1]
        data = base64.b64encode(spoken).decode("ascii")
        self._answer.attachments[-1] = replace(last, data=f"{last.data}{data}")
        yield StreamEvent("response.media", attachment={"id": last.id, "type": last.type, "data": data})
