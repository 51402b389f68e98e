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

import base64
import binascii
import codecs
import contextlib
import io
import json
import re
import string
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

import sseclient

DONE = "[DONE]"
"""What stands for a document at the end of many event streams."""

FramingName = Literal["server-sent events", "lines", "array", "aws event stream", "aws chunks"]


class Framing(Protocol):
    """One of the ways. `name` is what the provider table calls it, `empty` a stream that has begun and has no frame."""

    name: FramingName
    content_type: str
    empty: bytes

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Split a stream into its frames; joined, they are the body again."""

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the JSON documents, and `DONE`. Raises ValueError where the bytes are of another form."""

    def data(self, frame: bytes) -> bytes:
        """Return the JSON text of a frame, b"" where it has none. Raises ValueError for a frame of another form."""

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return a frame with another JSON text."""


class EventStream:
    """Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

    name: FramingName = "server-sent events"
    content_type = "text/event-stream"
    empty = b""

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield each frame with the blank line that ends it."""
        start = 0
        line_was_empty = False
        position = 0
        for line in body.splitlines(keepends=True):
            position += len(line)
            if not line.strip(b"\r\n"):
                line_was_empty = True
            elif line_was_empty:
                yield body[start : position - len(line)]
                start = position - len(line)
                line_was_empty = False
        if start < len(body):
            yield body[start:]

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the data of each event; one byte order mark may stand before a stream."""
        for event in sseclient.SSEClient(self.frames(body.removeprefix(codecs.BOM_UTF8))).events():
            yield DONE if event.data == DONE else json.loads(event.data)

    def data(self, frame: bytes) -> bytes:
        """Return the `data` lines together, b"" where they are no JSON object."""
        told = b"\n".join(line[5:] for line in frame.splitlines() if line.startswith(b"data:"))
        return told if told.strip().startswith(b"{") else b""

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the frame with all of its data in one line."""
        end = b"\r\n" if b"\r\n" in frame else b"\n"
        kept = [line for line in frame.splitlines() if line and not line.startswith(b"data:")]
        return end.join([*kept, b"data: " + data, b"", b""])


class Lines:
    """A JSON document a line: https://github.com/ndjson/ndjson-spec."""

    name: FramingName = "lines"
    content_type = "application/x-ndjson"
    empty = b""

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield the lines, each with its end; empty ones belong to the line before, at the beginning to the first."""
        start = position = 0
        for line in io.BytesIO(body):
            if line.strip() and body[start:position].strip():
                yield body[start:position]
                start = position
            position += len(line)
        if start < position:
            yield body[start:]

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield what stands in each line; empty ones say nothing."""
        yield from (json.loads(line) for line in body.split(b"\n") if line.strip())

    def data(self, frame: bytes) -> bytes:
        """Return the line without its end."""
        return frame.strip()

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return another line."""
        return data + b"\n"


class Array:
    """One JSON list that is sent item by item: Gemini's streams, where nobody asks for events (`alt=sse`)."""

    name: FramingName = "array"
    content_type = "application/json"
    empty = b"["

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield each item with what stands before it, the last with what closes the list."""
        ends = list(self._ends(body))
        for start, end in zip([0, *ends], ends[:-1], strict=False):
            yield body[start:end]
        yield body[ends[-2] if len(ends) > 1 else 0 :]

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the items; a list that nobody closes is one that breaks off."""
        yield from (json.loads(data) for data in map(self.data, self.frames(body)) if data)

    def data(self, frame: bytes) -> bytes:
        """Return the item."""
        return frame.strip(b"[], \r\n\t")

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the frame with another item."""
        before, _, after = frame.partition(self.data(frame))
        return before + data + after

    def _ends(self, body: bytes) -> Iterator[int]:
        """Yield where each item ends, as far as they are JSON objects."""
        text, position, size = body.decode("utf-8", "surrogateescape"), 0, 0
        reader = json.JSONDecoder()
        while (start := text.find("{", position)) >= 0:
            try:
                end = reader.raw_decode(text, start)[1]
            except (ValueError, RecursionError):
                return
            size += len(text[position:end].encode("utf-8", "surrogateescape"))
            position = end
            yield size


class AwsEventStream:
    """Messages of a prelude, headers, a payload and two checksums.

    https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
    """

    name: FramingName = "aws event stream"
    content_type = "application/vnd.amazon.eventstream"
    empty = b""

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield the messages, the last perhaps a part of one."""
        position = 0
        while position < len(body):
            length = _length(body, position)
            yield body[position : position + length]
            position += length

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield what the messages say. Raises ValueError for a wrong length or checksum."""
        yield from (json.loads(self.data(frame)) for frame in self.frames(body))

    def data(self, frame: bytes) -> bytes:
        """Return `{event type: payload}`, the JSON text in the `bytes` of a chunk, or `{"error": ...}` from headers."""
        headers, payload = aws_parts(frame)
        if headers.get(":message-type") == "error":
            return json.dumps({"error": {name: headers.get(f":error-{name}", "") for name in _ERROR}}).encode()
        if headers.get(":event-type") == "chunk":
            return aws_chunk(payload)[1]
        named = headers.get(":event-type") or headers.get(":exception-type", "")
        return b"{%b: %b}" % (json.dumps(named).encode(), payload or b"{}")

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the message with another payload; its headers stay, but those of an error. Raises ValueError."""
        headers, payload = aws_parts(frame)
        if headers.get(":event-type") == "chunk":
            return aws_message(headers, aws_chunk_payload(aws_chunk(payload)[0], data))
        with _other_forms_are_wrong_values():
            (said,) = json.loads(data).values()
            if headers.get(":message-type") == "error":
                return aws_message({**headers, **{f":error-{name}": said[name] for name in _ERROR}}, payload)
            return aws_message(headers, json.dumps(said).encode())


def aws_message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return a message of an AWS event stream; all headers are texts."""
    named = b"".join(
        struct.pack(f">B{len(name)}sBH{len(value)}s", len(name), name, _TEXT, len(value), value)
        for name, value in ((name.encode(), value.encode()) for name, value in headers.items())
    )
    prelude = struct.pack(">II", _LEAST + len(named) + len(payload), len(named))
    told = prelude + struct.pack(">I", binascii.crc32(prelude)) + named + payload
    return told + struct.pack(">I", binascii.crc32(told))


def aws_parts(message: bytes) -> tuple[dict[str, str], bytes]:
    """Return headers and payload of a message. Raises ValueError where lengths or checksums are wrong."""
    if len(message) < _LEAST:
        raise ValueError("a message is cut off")
    whole, named = struct.unpack(">II", message[:8])
    checksums = (binascii.crc32(message[:8]), binascii.crc32(message[:-4]))
    if whole != len(message) or named > whole - _LEAST or checksums != _said_checksums(message):
        raise ValueError("a message's lengths or checksums are wrong")
    return dict(_headers(message[12 : 12 + named])), message[12 + named : -4]


def aws_chunk(payload: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the fields of a chunk, and what its `bytes` are. Raises ValueError for a payload of another form."""
    with _other_forms_are_wrong_values():
        fields = json.loads(payload)
        return dict(fields), base64.b64decode(fields["bytes"])


def aws_chunk_payload(fields: Mapping[str, Any], data: bytes) -> bytes:
    """Return the payload of a chunk with these `bytes`."""
    return json.dumps({**fields, "bytes": base64.b64encode(data).decode("ascii")}).encode()


def aws_texts(message: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield all that a message says, and where: its headers, its payload, and what a chunk has in base64.

    Of one that is cut off or spoilt that is the message as it is, and as much of the base64 as is there. Raises
    ValueError where that is no base64.
    """
    try:
        headers, payload = aws_parts(message)
    except ValueError:
        yield from _spoilt(message)
        return
    yield ":headers", json.dumps(headers, ensure_ascii=False).encode()
    if headers.get(":event-type") != "chunk":
        yield f"/{headers.get(':event-type', '')}", payload
        return
    try:
        fields, data = aws_chunk(payload)
    except ValueError:
        yield from _spoilt(payload)
        return
    yield ":chunk", json.dumps({**fields, "bytes": ""}, ensure_ascii=False).encode()
    yield "", data


_BASE64 = (string.ascii_letters + string.digits + "+/").encode("ascii")
_BYTES = re.compile(rb'"bytes"\s*:\s*"([^"]*)')


def _spoilt(spoilt: bytes) -> Iterator[tuple[str, bytes]]:
    yield "", spoilt
    for match in _BYTES.finditer(spoilt):
        written = match[1].replace(b"\\/", b"/")
        begun = written[: len(written) - len(written.lstrip(_BASE64))]
        whole = begun[:-1] if len(begun) % 4 == 1 else begun
        yield "", base64.b64decode(whole + b"=" * (-len(whole) % 4))
        if begun != written.rstrip(b"="):
            raise ValueError("bytes of a chunk are no base64")


@contextlib.contextmanager
def _other_forms_are_wrong_values() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"a message of another form: {error!r}") from error


_ERROR = ("code", "message")
_TEXT = 7  # the type of a header's value
_LEAST = 16  # two lengths and two checksums


def _length(body: bytes, position: int) -> int:
    """Return how long the message at a position says that it is; the rest where that cannot be."""
    left = len(body) - position
    said = int.from_bytes(body[position : position + 4], "big")
    return said if _LEAST <= said <= left else left


def _said_checksums(message: bytes) -> tuple[int, int]:
    return int.from_bytes(message[8:12], "big"), int.from_bytes(message[-4:], "big")


def _headers(block: bytes) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(block):
        name_ends = position + 1 + block[position]
        if block[name_ends : name_ends + 1] != bytes([_TEXT]):
            raise ValueError("a header is no text")
        value_starts = name_ends + 3
        value_ends = value_starts + int.from_bytes(block[name_ends + 1 : value_starts], "big")
        yield block[position + 1 : name_ends].decode(), block[value_starts:value_ends].decode()
        position = value_ends


class AwsChunks(AwsEventStream):
    """The same with every document in base64, in a `chunk`: what `invoke-with-response-stream` hands on of a model."""

    name: FramingName = "aws chunks"


_LIST = re.compile(rb"\s*\[(?!\s*\])")  # one without items is no stream
EVENT_STREAM = EventStream()
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
