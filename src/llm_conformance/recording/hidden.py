r"""Find a secret in every form in which it may be written, whole or in pieces.

`places_of` lists the texts of an interaction piece by piece. `Finder` joins them in several ways: the texts of one
field over the frames of a stream, all texts in order, the texts that occur once, and the texts that are part of a
secret. It searches each joined text as it is and decoded: escapes of JSON and of URLs, base64, hexadecimal digits,
gzip, and these inside of each other.
"""

from __future__ import annotations

import base64
import functools
import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from llm_conformance import limits, secrets
from llm_conformance.wire.framings.base import Framing

SHORTEST = 6
"""In code points. Shorter known secrets are not searched for, because they occur in ordinary words."""
_DEPTH = 3
"""How many nested encodings are decoded."""

Piece = tuple[str, str]
"""(place in its document, text). The place is the path of a field; `_kind` explains the other places."""


@dataclass(frozen=True)
class Finder:
    """Finds known secrets and, unless `only_whole` is True, parts of them."""

    known: Collection[str]
    only_whole: bool = False

    @functools.cached_property
    def whole(self) -> Sequence[str]:
        """The secrets that are long enough, the longest first, because a secret may begin with another."""
        return sorted({each.strip() for each in self.known if len(each.strip()) >= SHORTEST}, key=len, reverse=True)

    @functools.cached_property
    def parts(self) -> Collection[str]:
        """The parts of keys that are as secret as the keys."""
        return frozenset[str]().union(*([] if self.only_whole else map(secrets.parts_of, self.whole)))

    @functools.cached_property
    def _forms(self) -> str:
        """The secrets in all forms that may be spread over several fields."""
        return "\n".join(form for secret in self.whole for form in _forms(secret))

    def finds(self, pieces: Sequence[Piece]) -> bool:
        """Return True if the texts, joined in this order, contain a secret in any form or parts of a secret."""
        joined = dict.fromkeys(text for texts in self._views(pieces) for text in _joined(texts))
        return any(self._is_in(reading) for text in joined for reading in _readings(text, _DEPTH))

    def _is_in(self, text: str) -> bool:
        return any(secret in text for secret in self.whole) or any(secrets.spans_of(self.parts, text))

    def _views(self, pieces: Sequence[Piece]) -> Iterator[Sequence[str]]:
        """Yield the sequences of texts that may contain a secret when joined."""
        yield from by_place(pieces).values()
        kinds = by_place((_kind(place), text) for place, text in pieces)
        yield from kinds.values()
        for texts in kinds.values():
            times = Counter(texts)
            yield [text for text in texts if times[text] == 1]
            yield [text for text in texts if text in self._forms]


def _kind(place: str) -> str:
    """Return the kind of a place: `{}` (a key), `#` (bytes), `:` (a part of a line without data) or "" (other text)."""
    return ":" if place.startswith(":") else place[-2:] if place.endswith("{}") else "#" if place.endswith("#") else ""


def _joined(texts: Sequence[str]) -> Iterator[str]:
    yield "".join(texts)
    if len(texts) > 1:
        yield "".join(map(_from_base64, texts))


def by_place(pieces: Iterable[Piece]) -> dict[str, list[str]]:
    """Return the texts by their places."""
    found: dict[str, list[str]] = {}
    for place, text in pieces:
        found.setdefault(place, []).append(text)
    return found


def places_of(framing: Framing | None, frames: Iterable[bytes]) -> Iterator[Piece]:
    """Yield all texts of a body, including keys of objects. Raises ValueError for unreadable text."""
    for frame in frames:
        is_read = framing is not None and framing.is_binary
        for place, data in [("", frame)] if framing is None else framing.texts(frame):
            try:
                yield from texts_in(json.loads(data), place)
            except (ValueError, RecursionError):
                yield "", (data or frame).decode("latin-1")
                is_read |= not data
        if framing is not None and not is_read:
            yield from _beside_the_data(frame)


def _beside_the_data(frame: bytes) -> Iterator[Piece]:
    """Yield the texts of lines without data: comments, and names and ids of events."""
    for line in frame.decode("latin-1").splitlines():
        name, _, text = line.partition(":")
        if name in ("", "event", "id", "retry"):
            yield f":{name}", text.removeprefix(" ")


def texts_in(value: Any, place: str = "") -> Iterator[Piece]:
    """Yield the texts and the keys in a JSON value, and lists of bytes as text."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield f"{place}{{}}", str(key)
            yield from texts_in(inner, f"{place}/{key}")
    elif isinstance(value, list | tuple):
        if value and all(isinstance(each, int) and 0 <= each < 256 for each in value):
            yield f"{place}#", bytes(value).decode("latin-1")
        for inner in value:
            yield from texts_in(inner, f"{place}/[]")


_ESCAPE = re.compile(r"\\u00([0-9a-fA-F]{2})|\\(.)")
_PERCENT = re.compile(r"%([0-9a-fA-F]{2})")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-][A-Za-z0-9+/_=-]{10,}")
_HEX = re.compile(r"[0-9a-fA-F]{12,}")
_SPACE = re.compile(r"\s+")
_COMPRESSED = re.compile(r"\x1f\x8b\x08|(?:\A|\0)x[\x01\x5e\x9c\xda]")
_PRINTABLE = re.compile(r"[\t\n\r -~]{6,}")
"""What can be a secret or encode a secret.

In decoded bytes, which mostly are sound or signatures, only this is searched.
"""


def _readings(text: str, depth: int) -> Iterator[str]:
    """Yield a text, and the text decoded from each encoding that it may have. Bytes are read as Latin-1."""
    yield text
    for decoded in _decoded(text) if depth else ():
        if decoded:
            yield from _readings(decoded, depth - 1)


def _decoded(text: str) -> Iterator[str]:
    if "\\" in text:
        yield _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], text)
    if _PERCENT.search(text):
        yield _PERCENT.sub(lambda found: chr(int(found[1], 16)), text)
    for found in (text, *_decoded_bytes(text)):
        if found is not text:
            yield "\0".join(_PRINTABLE.findall(found))
        for start in _COMPRESSED.finditer(found):
            yield "\0".join(_PRINTABLE.findall(_unpacked(found[start.start() :].removeprefix("\0"))))


def _decoded_bytes(text: str) -> Iterator[str]:
    """Yield what runs of base64 and of hexadecimal digits encode, for each offset at which a byte may begin."""
    for form in dict.fromkeys((text, _SPACE.sub("", text))):
        runs = _BASE64.findall(form)
        for shift in range(4 if runs else 0):
            yield "\0".join(_from_base64(run[shift:]) for run in runs)
        digits = _HEX.findall(form)
        for shift in range(2 if digits else 0):
            yield "\0".join(_from_hex(run[shift:]) for run in digits)


def _from_base64(text: str) -> str:
    """Decode base64, even if its pieces were encoded one by one; return "" if it is not base64."""
    if not _ONLY_BASE64.fullmatch(text):
        return ""
    pieces = re.split("=+", text.translate(_STANDARD))
    return b"".join(base64.b64decode(_whole(piece)) for piece in pieces).decode("latin-1")


_STANDARD = str.maketrans("-_", "+/")
_ONLY_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]*")


def _whole(piece: str) -> str:
    decodable = piece[:-1] if len(piece) % 4 == 1 else piece
    return decodable + "=" * (-len(decodable) % 4)


def _from_hex(digits: str) -> str:
    return bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("latin-1")


def _unpacked(text: str) -> str:
    try:
        return (
            zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(text.encode("latin-1"), limits.BYTES).decode("latin-1")
        )
    except (zlib.error, UnicodeEncodeError):
        return ""


def _forms(secret: str) -> Iterator[str]:
    encoded = secret.encode("utf-8")
    digits = [f"{each:02x}" for each in encoded]
    for form in (*("".join(before + each for each in digits) for before in ("", "%", "\\u00")), quote(secret, safe="")):
        yield from (form, form.upper().replace("U", "u"))
    yield secret
    for shift in range(3):
        alone = core_of_base64(encoded, shift)
        yield from (alone, alone.replace("+", "-").replace("/", "_"))


def core_of_base64(secret: bytes, shift: int) -> str:
    """Return the part of a secret's base64 that does not depend on the bytes around the secret.

    `shift` is the number of bytes before the secret.
    """
    encoded = base64.b64encode(b"\0" * shift + secret).decode("ascii")
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + len(secret)) * 8 // 6]
