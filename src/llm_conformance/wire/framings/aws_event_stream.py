"""AWS event streams: binary messages with checksums."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
import string
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.wire.framings.base import FramingName


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
            raise ValueError("a header is not text")
        value_starts = name_ends + 3
        value_ends = value_starts + int.from_bytes(block[name_ends + 1 : value_starts], "big")
        yield block[position + 1 : name_ends].decode(), block[value_starts:value_ends].decode()
        position = value_ends


class AwsChunks(AwsEventStream):
    """The same with every document in base64, in a `chunk`: what `invoke-with-response-stream` hands on of a model."""

    name: FramingName = "aws chunks"
