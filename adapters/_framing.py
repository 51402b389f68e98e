"""Split the bytes of a stream into JSON documents, wherever the chunks are cut.

A library, sseclient, parses server-sent events. Your adapter should use a library, too. The suite derives its expected
values with a different parser.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
from collections.abc import Callable, Iterable, Iterator

import sseclient

Unframe = Callable[[Iterable[bytes]], Iterator[str | bytes]]
"""A function that yields the JSON text of each document, and `[DONE]` if the server sends it."""


def events(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of server-sent events."""
    for event in sseclient.SSEClient(_without_byte_order_mark(chunks)).events():
        yield event.data


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines that are not blank, the last one even without a line break."""
    held: list[bytes] = []
    for chunk in chunks:
        held.append(chunk)
        if b"\n" in chunk:  # so a long line is joined only once
            *whole, rest = b"".join(held).split(b"\n")
            yield from (line for line in whole if line.strip())
            held = [rest]
    last = b"".join(held)
    if last.strip():
        yield last


def array(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield each item of a JSON array as soon as it is complete. Raises ValueError if more is left at the end."""
    reader, utf8, held = json.JSONDecoder(), codecs.getincrementaldecoder("utf-8")(), [""]
    for chunk in chunks:
        held.append(utf8.decode(chunk))
        if "}" not in held[-1]:  # no item is complete
            continue
        left = "".join(held).lstrip("[, \r\n\t")
        while left.startswith("{"):
            try:
                _, end = reader.raw_decode(left)
            except ValueError:  # the item is incomplete
                break
            yield left[:end]
            left = left[end:].lstrip(", \r\n\t")
        held = [left]
    if "".join(held).lstrip("[, \r\n\t").strip("], \r\n\t"):
        raise ValueError("expected an array of JSON objects")


def aws_messages(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the messages of an AWS event stream, each as `{type: payload}`.

    For a message of type `chunk`, it yields the JSON document that the message holds in base64. For an error, which is
    in the headers of a message, it yields `{"error": {"code": ..., "message": ...}}`.

    Raises ValueError for a message that is cut off or corrupt.
    """
    held = b""
    for chunk in chunks:
        held += chunk
        while len(held) >= _LEAST:
            length = int.from_bytes(held[:4], "big")
            if binascii.crc32(held[:8]).to_bytes(4, "big") != held[8:12] or length < _LEAST:
                raise ValueError("the prelude of a message is corrupt")
            if len(held) < length:
                break
            message, held = held[:length], held[length:]
            yield _document(message)
    if held:
        raise ValueError("a message is cut off")


_LEAST = 16
"""The size of an empty message in bytes: its length, the length of its headers, and two checksums."""


def _document(message: bytes) -> bytes:
    if binascii.crc32(message[:-4]).to_bytes(4, "big") != message[-4:]:
        raise ValueError("a message is corrupt")
    begin = 12 + int.from_bytes(message[4:8], "big")
    headers, payload = _headers(message[12:begin]), message[begin:-4] or b"{}"
    if headers.get(b":message-type") == b"error":
        error = {name: headers.get(b":error-" + name.encode(), b"").decode() for name in ("code", "message")}
        return json.dumps({"error": error}).encode()
    kind = headers.get(b":event-type") or headers.get(b":exception-type") or b""
    if kind == b"chunk":
        return base64.b64decode(json.loads(payload)["bytes"])
    return b'{"%b": %b}' % (kind, payload)


def _headers(headers: bytes) -> dict[bytes, bytes]:
    """Return the text headers of a message.

    A header is one byte with the length of the name, the name, the byte 7 (text), two bytes with the length of the
    value, and the value:
    https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream.
    """
    found: dict[bytes, bytes] = {}
    while headers:
        name, rest = headers[1 : 1 + headers[0]], headers[2 + headers[0] :]
        length = int.from_bytes(rest[:2], "big")
        found[name], headers = rest[2 : 2 + length], rest[2 + length :]
    return found


def _without_byte_order_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the chunks without a byte order mark at the start, which sseclient would take for part of a field name."""
    head = b""
    rest = iter(chunks)
    for chunk in rest:
        head += chunk
        if len(head) >= len(codecs.BOM_UTF8) or not codecs.BOM_UTF8.startswith(head):
            break
    yield head.removeprefix(codecs.BOM_UTF8)
    yield from rest
