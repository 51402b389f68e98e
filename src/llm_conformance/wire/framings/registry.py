"""The framings of streams, told apart by content type.

| framing | content type | frame |
|---|---|---|
| server-sent events | `text/event-stream` | lines, and the blank line that ends them |
| AWS event stream | `application/vnd.amazon.eventstream` | a binary message with checksums |
| one document on each line | `application/x-ndjson` | a line |
| one array | `application/json`, and the body is an array | an item with the punctuation around it |
"""

from __future__ import annotations

from llm_conformance.wire.framings.aws_event_stream import AwsChunks, AwsEventStream
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.framings.json_array import Array
from llm_conformance.wire.framings.lines import Lines
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM

FRAMINGS: tuple[Framing, ...] = (EVENT_STREAM, AwsEventStream(), AwsChunks(), Lines(), Array())
"""All framings. Of two with the same content type, the first reads both."""


def framing_of(content_type: str, body: bytes) -> Framing | None:
    """Return the framing of a response, None if its body is a single document."""
    kind = content_type.partition(";")[0].strip().lower()
    return next((framing for framing in FRAMINGS if framing.content_type == kind and framing.fits(body)), None)


def named(name: str) -> Framing:
    """Return the framing that provider files call `name`."""
    return next(framing for framing in FRAMINGS if framing.name == name)


def looks_like(body: bytes) -> str:
    """Return the content type that a body seems to have."""
    return next((framing.content_type for framing in FRAMINGS if framing.looks_like(body)), "application/json")
