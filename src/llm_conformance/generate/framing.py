"""Draw the bytes of responses, with the choices that a format leaves to the sender."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import at_most, pick
from llm_conformance.generate.writing import escaping, padding, writing
from llm_conformance.wire.framings.base import Frame, json_text
from llm_conformance.wire.providers.api import Api


def stream(draw: DrawFn, frames: Iterable[Frame], api: Api) -> bytes:
    """Draw the bytes of a stream of an API."""
    return b"".join(pieces(draw, frames, api))


def pieces(draw: DrawFn, frames: Iterable[Frame], api: Api) -> list[bytes]:
    """Draw the bytes of each frame of a stream of an API."""
    return api.framing.write(list(frames), writing(draw, api), functools.partial(pick, draw))


def cut_short(draw: DrawFn, whole: bytes) -> bytes:
    """Cut a frame or a body within its JSON object: in a string, in a character, after a bracket, or anywhere.

    What is left is never valid JSON.
    """
    places = cut_places(whole)
    kind = pick(draw, *(kind for kind, offsets in places.items() if offsets))
    return whole[: places[kind][at_most(draw, len(places[kind]) - 1)]]


def cut_places(whole: bytes) -> Mapping[str, Sequence[int]]:
    """Map the kind of a cut, such as `in a string`, to its byte offsets in the JSON object of a frame or a body."""
    start, end = whole.index(b"{") + 1, whole.rindex(b"}")
    strings = (range(match.start() + 1, match.end()) for match in _STRING.finditer(whole, start, end))
    return {
        "anywhere": range(start, end + 1),
        "in a string": [offset for string in strings for offset in string],
        "behind a bracket": [match.end() for match in _CLOSING.finditer(whole, start, end)],
        "in a character": [offset for offset in in_characters(whole) if start <= offset <= end],
    }


def in_characters(text: bytes) -> Sequence[int]:
    """Return the byte offsets within characters of several bytes."""
    return [match.start() for match in _CONTINUATION.finditer(text)]


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_CLOSING = re.compile(rb"[]}]")
_CONTINUATION = re.compile(rb"(?<=[\xc2-\xf4\x80-\xbf])[\x80-\xbf]")


def document(draw: DrawFn, body: Mapping[str, Any], api: Api) -> bytes:
    """Draw the bytes of a plain response of an API."""
    return padding(draw, api) + json_text(body, escaping(draw, api)).encode("utf-8")
