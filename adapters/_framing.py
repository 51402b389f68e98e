"""How a stream's documents come out of its bytes, whatever the pieces that these arrive in."""

from __future__ import annotations

import base64
import binascii
import codecs
import json
from collections.abc import Callable, Iterable, Iterator

import sseclient

Unframe = Callable[[Iterable[bytes]], Iterator[str | bytes]]
"""Gives the JSON text of each document, and `[DONE]` where that is sent."""


def events(chunks: Iterable[bytes]) -> Iterator[str]:
    """Give the data of server-sent events."""
    for event in sseclient.SSEClient(_without_byte_order_mark(chunks)).events():
        yield event.data


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Give the lines, the last one even if nothing ends it."""
    held = b""
    for chunk in chunks:
        *whole, held = (held + chunk).split(b"\n")
        yield from (line for line in whole if line.strip())
    if held.strip():
        yield held


def array(chunks: Iterable[bytes]) -> Iterator[str]:
    """Give the items of one JSON list as each is complete. Raises ValueError where something else is left over."""
    reader, utf8, held = json.JSONDecoder(), codecs.getincrementaldecoder("utf-8")(), ""
    for chunk in chunks:
        held = (held + utf8.decode(chunk)).lstrip("[, \r\n\t")
        while held.startswith("{"):
            try:
                _, end = reader.raw_decode(held)
            except ValueError:  # not all of it is here
                break
            yield held[:end]
            held = held[end:].lstrip(", \r\n\t")
    if held.strip("], \r\n\t"):
        raise ValueError("a list of JSON objects was expected")


def aws_messages(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Give the messages of an AWS event stream, each as `{type: payload}`, a chunk as what it has in base64.

    An error is all in its headers: it comes as `{"error": {"code": ..., "message": ...}}`.

    Raises ValueError for a message that is cut off or spoilt.
    """
    held = b""
    for chunk in chunks:
        held += chunk
        while len(held) >= _LEAST:
            length = int.from_bytes(held[:4], "big")
            if binascii.crc32(held[:8]).to_bytes(4, "big") != held[8:12] or length < _LEAST:
                raise ValueError("the length of a message is spoilt")
            if len(held) < length:
                break
            message, held = held[:length], held[length:]
            yield _document(message)
    if held:
        raise ValueError("a message is cut off")


_LEAST = 16
"""Bytes of a message that has nothing in it: its length, that of its headers, and two checksums."""


def _document(message: bytes) -> bytes:
    if binascii.crc32(message[:-4]).to_bytes(4, "big") != message[-4:]:
        raise ValueError("a message is spoilt")
    begin = 12 + int.from_bytes(message[4:8], "big")
    headers, payload = _headers(message[12:begin]), message[begin:-4] or b"{}"
    if headers.get(b":message-type") == b"error":
        said = {name: headers.get(b":error-" + name.encode(), b"").decode() for name in ("code", "message")}
        return json.dumps({"error": said}).encode()
    kind = headers.get(b":event-type") or headers.get(b":exception-type") or b""
    if kind == b"chunk":
        return base64.b64decode(json.loads(payload)["bytes"])
    return b'{"%b": %b}' % (kind, payload)


def _headers(headers: bytes) -> dict[bytes, bytes]:
    """Return the headers of a message.

    A header is the length of its name in a byte, the name, a 7 for text, the length of the text in two bytes, the text.
    """
    found: dict[bytes, bytes] = {}
    while headers:
        name, rest = headers[1 : 1 + headers[0]], headers[2 + headers[0] :]
        length = int.from_bytes(rest[:2], "big")
        found[name], headers = rest[2 : 2 + length], rest[2 + length :]
    return found


def _without_byte_order_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Give the bytes on without the mark that may stand before a stream, which the SSE parser would take for data."""
    head = b""
    rest = iter(chunks)
    for chunk in rest:
        head += chunk
        if len(head) >= len(codecs.BOM_UTF8) or not codecs.BOM_UTF8.startswith(head):
            break
    yield head.removeprefix(codecs.BOM_UTF8)
    yield from rest
