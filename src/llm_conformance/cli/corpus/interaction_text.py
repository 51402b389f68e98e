"""An interaction as lines of text for a terminal.

Recordings are untrusted, so this module hides what looks like a secret, and escapes control characters and invisible
characters. Of the headers, it shows only those that adapters read.
"""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from llm_conformance import secrets
from llm_conformance.scenarios import bare
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction

_HEADERS = ("content-type", "retry-after")
_MOST_LINES = 40
"""How many lines of a request or a response to show, unless the user wants all."""
_LONGEST = 300
"""How many characters of a line to show, unless the user wants all."""
_WIDE = ("W", "F")


def lines(interaction: Interaction, full: bool) -> list[str]:
    """Return the lines of the request and the response; with `full`, nothing is shortened."""
    request = [bare.place_of(interaction.uri), *_json_lines(interaction.request)] if interaction.request else []
    headers = (f"{name}: {interaction.headers[name]}" for name in _HEADERS if name in interaction.headers)
    response = [f"status {interaction.status}", *headers, "", *_body(interaction)]
    request = request or [bare.place_of(interaction.uri), "(the request was not recorded)"]
    return ["REQUEST", *_bounded(request, full), "", "RESPONSE", *_bounded(response, full)]


def side_by_side(left: Sequence[str], right: Sequence[str], width: int) -> Iterator[str]:
    """Yield two texts side by side in a terminal with `width` columns. Longer lines are wrapped."""
    column = (width - 3) // 2
    for one, other in itertools.zip_longest(left, right, fillvalue=""):
        for one_part, other_part in itertools.zip_longest(_wrapped(one, column), _wrapped(other, column), fillvalue=""):
            yield f"{one_part}{' ' * (column - _columns(one_part))} | {other_part}".rstrip()


def visible(text: str) -> str:
    """Return a text with invisible characters and control characters escaped."""
    return "".join(each if each.isprintable() else _escape(each) for each in text)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _body(interaction: Interaction) -> Iterator[str]:
    """Yield the lines of a JSON document, or each document of a stream in one line, or else the unchanged text."""
    try:
        documents = list(answers.documents(interaction))
    except answers.SHAPELESS:
        yield from interaction.body.decode("utf-8", "backslashreplace").splitlines()
        return
    if interaction.streamed:
        yield from (json.dumps(each, ensure_ascii=False) for each in documents)
    else:
        yield from itertools.chain.from_iterable(map(_json_lines, documents))


def _json_lines(value: Any) -> list[str]:
    # Unlike `splitlines`, this does not split at Unicode's line ends within a text.
    return json.dumps(value, ensure_ascii=False, indent=1).split("\n")


def _bounded(text: Sequence[str], full: bool) -> list[str]:
    safe = [visible(line) for line in secrets.hide("\n".join(text)).split("\n")]  # a key may span lines
    if full:
        return safe
    cut = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}... ({len(line)} characters)" for line in safe]
    if len(cut) <= _MOST_LINES:
        return cut
    half = _MOST_LINES // 2
    return [*cut[:half], f"... {len(cut) - 2 * half} more lines, with --full ...", *cut[-half:]]


def _wrapped(line: str, width: int) -> Iterator[str]:
    piece, used = "", 0
    for character in line:
        columns = _columns(character)
        if used + columns > width:
            yield piece
            piece, used = "", 0
        piece, used = piece + character, used + columns
    yield piece


def _columns(text: str) -> int:
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in _WIDE else 1 for each in text
    )
