"""The framings of streams, told apart by content type.

| framing | content type | frame |
|---|---|---|
| server-sent events | `text/event-stream` | lines, and the blank line that ends them |
| AWS event stream | `application/vnd.amazon.eventstream` | a binary message with checksums |
| one document on each line | `application/x-ndjson`, `application/stream+json` | a line |
| one array | `application/json`, and the body is an array | an item with the punctuation around it |
"""

from __future__ import annotations

import json

from llm_conformance.wire.framings.aws_event_stream import AwsChunks, AwsEventStream
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.framings.json_array import Array
from llm_conformance.wire.framings.lines import Lines, StreamJson
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM

FRAMINGS: tuple[Framing, ...] = (EVENT_STREAM, AwsEventStream(), AwsChunks(), Lines(), StreamJson(), Array())
"""All framings. If two have the same content type, the first one reads the streams of both."""


def framing_of(content_type: str, body: bytes) -> Framing | None:
    """Return the framing of a response; None if its body is a single document."""
    kind = content_type.partition(";")[0].strip().lower()
    return next((framing for framing in FRAMINGS if framing.content_type == kind and framing.fits(body)), None)


def named(name: str) -> Framing:
    """Return the framing with this name in provider files."""
    return next(framing for framing in FRAMINGS if framing.name == name)


def content_type_of(stated: str, body: bytes) -> str:
    """Return the content type of a recorded response.

    The `stated` content type may be wrong: recorders lose or redact it, and ollama.com sends lines of JSON as
    `application/json`. If the body is not one JSON document but looks like a framing, this returns the content type of
    that framing.
    """
    kind = stated.partition(";")[0].strip().lower()
    is_stated = "/" in kind
    if is_stated and (kind not in _VAGUE or framing_of(stated, body) or _is_document(body)):
        return stated
    seeming = next((framing for framing in FRAMINGS if framing.looks_like(body)), None)
    if seeming is not None:
        return seeming.content_type
    return stated if is_stated else "application/json"


_VAGUE = ("application/json", "text/plain", "application/octet-stream", "binary/octet-stream")
"""Content types that servers and recorders write for bodies of any kind."""


def _is_document(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
