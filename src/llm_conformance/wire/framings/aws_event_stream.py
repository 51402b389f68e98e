"""AWS event streams: binary messages with headers, a payload and two checksums.

https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
import string
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.wire.framings.base import Choose, Clean, Escapes, Frame, Framing, Writing, cleaned_text, json_value

_ERROR_FIELDS = ("code", "message")
_TEXT = 7  # the type of a text header; streams of models use no other type
_SMALLEST = 16  # bytes: two lengths and two checksums


class AwsEventStream(Framing):
    """An AWS event stream. Its documents have the form in which AWS's own SDKs return a message.

    The document of an event is `{event type: payload}`. An event `chunk` has its document in the field `bytes` of the
    payload, as JSON text in base64. An error is in the headers. Its document is
    `{"error": {"code": ..., "message": ...}}`.
    """

    name = "aws event stream"
    title = "binary messages of an AWS event stream"
    content_type = "application/vnd.amazon.eventstream"
    is_binary = True

    def looks_like(self, body: bytes) -> bool:
        """Return True if the first checksum is right. It covers the two lengths."""
        return binascii.crc32(body[:8]).to_bytes(4, "big") == body[8:12]

    def frames(self, body: bytes) -> Iterator[bytes]:
        """Yield the messages. The last item may be an incomplete message, or everything after an impossible length."""
        position = 0
        while position < len(body):
            length = _length(body, position)
            yield body[position : position + length]
            position += length

    def documents(self, body: bytes) -> Iterator[Any]:
        """Yield the document of each message. Raises ValueError for a wrong length or checksum."""
        yield from (json_value(self.data(frame)) for frame in self.frames(body))

    def data(self, frame: bytes) -> bytes:
        """Return the document of a message as JSON text. Raises ValueError if the message is malformed."""
        headers, payload = aws_parts(frame)
        if headers.get(":message-type") == "error":
            return json.dumps({"error": {name: headers.get(f":error-{name}", "") for name in _ERROR_FIELDS}}).encode()
        if headers.get(":event-type") == "chunk":
            return aws_chunk(payload)[1]
        event_type = headers.get(":event-type") or headers.get(":exception-type", "")
        return b"{%b: %b}" % (json.dumps(event_type).encode(), payload or b"{}")

    def with_data(self, frame: bytes, data: bytes) -> bytes:
        """Return the message with a new payload; for an error, with new headers. Raises ValueError if malformed."""
        headers, payload = aws_parts(frame)
        if headers.get(":event-type") == "chunk":
            return aws_message(headers, aws_chunk_payload(aws_chunk(payload)[0], data))
        with _malformed_is_a_value_error():
            (value,) = json.loads(data).values()
            if headers.get(":message-type") == "error":
                return aws_message({**headers, **{f":error-{name}": value[name] for name in _ERROR_FIELDS}}, payload)
            return aws_message(headers, json.dumps(value).encode())

    def texts(self, frame: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield the headers, the payload, and the decoded base64 of a chunk."""
        return aws_texts(frame)

    def cleaned(self, body: bytes, clean: Clean) -> bytes:
        """Return the body with each message cleaned. Messages are built again, because they have checksums."""
        return b"".join(_cleaned_message(frame, clean) for frame in self.frames(body))

    def write(self, frames: Sequence[Frame], writing: Writing, choose: Choose) -> list[bytes]:
        """Return a message for each frame.

        The frame's event is the type of the message; `error` gives an error message.
        """
        return [_message(frame, writing.escapes) for frame in frames]


class AwsChunks(AwsEventStream):
    """AWS event streams of `chunk`s with a model's own documents: the answer of `invoke-with-response-stream`."""

    name = "aws chunks"
    title = "binary messages of an AWS event stream, with documents in base64"

    def write(self, frames: Sequence[Frame], writing: Writing, choose: Choose) -> list[bytes]:
        """Return a `chunk` for each frame; for an exception, a message of its own type."""
        return [
            _message(frame, writing.escapes) if _is_exception(frame.event) else _chunk(frame, writing.escapes)
            for frame in frames
        ]


def aws_message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Build a message. All headers are texts."""
    encoded = b"".join(
        struct.pack(f">B{len(name)}sBH{len(value)}s", len(name), name, _TEXT, len(value), value)
        for name, value in ((name.encode(), value.encode()) for name, value in headers.items())
    )
    lengths = struct.pack(">II", _SMALLEST + len(encoded) + len(payload), len(encoded))
    message = lengths + struct.pack(">I", binascii.crc32(lengths)) + encoded + payload
    return message + struct.pack(">I", binascii.crc32(message))


def aws_parts(message: bytes) -> tuple[dict[str, str], bytes]:
    """Return (headers, payload) of a message. Raises ValueError if a length or a checksum is wrong."""
    if len(message) < _SMALLEST:
        raise ValueError("a message is cut off")
    length, headers_length = struct.unpack(">II", message[:8])
    checksums = binascii.crc32(message[:8]), binascii.crc32(message[:-4])
    stated = int.from_bytes(message[8:12], "big"), int.from_bytes(message[-4:], "big")
    if length != len(message) or headers_length > length - _SMALLEST or checksums != stated:
        raise ValueError("a message's lengths or checksums are wrong")
    return dict(_headers(message[12 : 12 + headers_length])), message[12 + headers_length : -4]


def aws_chunk(payload: bytes) -> tuple[dict[str, Any], bytes]:
    """Return (fields of a chunk, its decoded `bytes`). Raises ValueError if the payload is malformed."""
    with _malformed_is_a_value_error():
        fields = json.loads(payload)
        return dict(fields), base64.b64decode(fields["bytes"])


def aws_chunk_payload(fields: Mapping[str, Any], data: bytes) -> bytes:
    """Return the payload of a chunk with these fields and these `bytes`."""
    return json.dumps({**fields, "bytes": base64.b64encode(data).decode("ascii")}).encode()


def aws_texts(message: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (place, text) for every text in a message: the headers, the payload, and the decoded `bytes` of a chunk.

    For a message that is cut off or corrupt, yields the whole message, and as much of its base64 as can be decoded.
    Raises ValueError if the `bytes` of such a message are not base64.
    """
    try:
        headers, payload = aws_parts(message)
    except ValueError:
        yield from _texts_of_corrupt(message)
        return
    yield ":headers", json.dumps(headers, ensure_ascii=False).encode()
    if headers.get(":event-type") != "chunk":
        yield f"/{headers.get(':event-type', '')}", payload
        return
    try:
        fields, data = aws_chunk(payload)
    except ValueError:
        yield from _texts_of_corrupt(payload)
        return
    yield ":chunk", json.dumps({**fields, "bytes": ""}, ensure_ascii=False).encode()
    yield "", data


_BASE64 = (string.ascii_letters + string.digits + "+/").encode("ascii")
_BYTES = re.compile(rb'"bytes"\s*:\s*"([^"]*)')


def _texts_of_corrupt(corrupt: bytes) -> Iterator[tuple[str, bytes]]:
    yield "", corrupt
    for match in _BYTES.finditer(corrupt):
        value = match[1].replace(b"\\/", b"/")
        base64_part = value[: len(value) - len(value.lstrip(_BASE64))]
        decodable = base64_part[:-1] if len(base64_part) % 4 == 1 else base64_part
        yield "", base64.b64decode(decodable + b"=" * (-len(decodable) % 4))
        if base64_part != value.rstrip(b"="):
            raise ValueError("the bytes of a chunk are not base64")


def _cleaned_message(message: bytes, clean: Clean) -> bytes:
    try:
        headers, payload = aws_parts(message)
    except ValueError:  # incomplete or corrupt
        return _cleaned_payload(message, clean)
    clean_headers = {name: clean(value) for name, value in headers.items()}
    clean_payload = (_cleaned_chunk if headers.get(":event-type") == "chunk" else cleaned_text)(payload, clean)
    is_clean = (clean_headers, clean_payload) == (headers, payload)
    return message if is_clean else aws_message(clean_headers, clean_payload)


def _cleaned_chunk(payload: bytes, clean: Clean) -> bytes:
    try:
        fields, data = aws_chunk(payload)
    except ValueError:
        return _cleaned_payload(payload, clean)
    clean_fields = json.loads(clean(json.dumps({**fields, "bytes": ""})))
    clean_payload = aws_chunk_payload(clean_fields, cleaned_text(data, clean))
    is_clean = json.loads(clean_payload) == fields and cleaned_text(payload, clean) == payload
    return payload if is_clean else clean_payload


def _cleaned_payload(broken: bytes, clean: Clean) -> bytes:
    """Return a broken message without secrets. Raises ValueError if its base64 holds a secret or cannot be decoded."""
    if any(cleaned_text(data, clean) != data for _, data in list(aws_texts(broken))[1:]):
        raise ValueError("a message that is incomplete or corrupt has a secret in base64")
    return cleaned_text(broken, clean)


@contextlib.contextmanager
def _malformed_is_a_value_error() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"a message is malformed: {error!r}") from error


def _length(body: bytes, position: int) -> int:
    """Return the length that the message at a position states. If it is impossible, return the length of the rest."""
    rest = len(body) - position
    stated = int.from_bytes(body[position : position + 4], "big")
    return stated if _SMALLEST <= stated <= rest else rest


def _headers(block: bytes) -> Iterator[tuple[str, str]]:
    """Yield (name, text). On the wire: name length (1 byte), name, type (1 byte), text length (2 bytes), text."""
    position = 0
    while position < len(block):
        name_end = position + 1 + block[position]
        if block[name_end : name_end + 1] != bytes([_TEXT]):
            raise ValueError("a header is not text")
        value_start = name_end + 3
        value_end = value_start + int.from_bytes(block[name_end + 1 : value_start], "big")
        yield block[position + 1 : name_end].decode(), block[value_start:value_end].decode()
        position = value_end


def _message(frame: Frame, escapes: Escapes) -> bytes:
    if frame.event == "error" and isinstance(frame.data, Mapping):
        fields = {f":error-{name}": frame.data[name] for name in _ERROR_FIELDS}
        return aws_message({**fields, ":message-type": "error"}, b"")
    kind = "exception" if _is_exception(frame.event) else "event"
    headers = {f":{kind}-type": frame.event or "", ":content-type": "application/json", ":message-type": kind}
    return aws_message(headers, frame.text(escapes).encode())


def _chunk(frame: Frame, escapes: Escapes) -> bytes:
    headers = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    return aws_message(headers, aws_chunk_payload({}, frame.text(escapes).encode()))


def _is_exception(event: str | None) -> bool:
    return event is not None and event.endswith("Exception")
