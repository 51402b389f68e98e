"""How a stream's documents are put into bytes: four ways, told apart by content type.

| framing | content type | frame |
|---|---|---|
| server-sent events | `text/event-stream` | lines, and the blank line that ends them |
| one document a line | `application/x-ndjson` | a line |
| one array | `application/json`, and the body is a list | an item, with what stands around it |
| AWS event stream | `application/vnd.amazon.eventstream` | a binary message with checksums |

A document of an AWS event stream is `{type of the event: payload}`, as AWS's own SDKs show it; that of an event `chunk`
is what its `bytes` are in base64; that of a message of the type `error` is `{"error": {"code": ..., "message": ...}}`.
"""

from __future__ import annotations

import binascii
import codecs
import re

from llm_conformance.wire.framings.aws_event_stream import AwsChunks, AwsEventStream
from llm_conformance.wire.framings.base import Framing, FramingName
from llm_conformance.wire.framings.json_array import _LIST, Array
from llm_conformance.wire.framings.lines import Lines
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM, EventStream

FRAMINGS: tuple[Framing, ...] = (EVENT_STREAM, Lines(), AwsEventStream(), AwsChunks(), Array())


def framing_of(content_type: str, body: bytes) -> Framing | None:
    """Return how an answer is put into frames; None for one that is a single document."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == Array.content_type and not _LIST.match(body):
        return None
    return next((each for each in FRAMINGS if each.content_type == kind), None)


def named(name: FramingName) -> Framing:
    """Return the framing that the provider table calls by this name."""
    return next(each for each in FRAMINGS if each.name == name)


def looks_like(body: bytes) -> str:
    """Return the content type that a body seems to have, where nobody says it."""
    if re.match(rb"(?:data|event|id|retry)?:", body.removeprefix(codecs.BOM_UTF8)):
        return EventStream.content_type
    if binascii.crc32(body[:8]).to_bytes(4, "big") == body[8:12]:  # that of a message's two lengths
        return AwsEventStream.content_type
    return Lines.content_type if re.search(rb"\}\r?\n\{", body) else Array.content_type
