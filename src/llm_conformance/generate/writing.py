"""The ways in which providers write documents as bytes, and how to recognise these ways."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from hypothesis.strategies import DrawFn

from llm_conformance.generate.variations import Variation, choose
from llm_conformance.wire.framings.base import Escapes, Writing
from llm_conformance.wire.framings.json_array import Array
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

ESCAPES = Variation(
    "escapes",
    r"what JSON has as \uXXXX: nothing that may be there as it is, or <, >, &, U+2028 and U+2029, or all beyond ASCII",
    "none",
    ("none", "markup", "beyond ASCII"),
)
CONTROLS = Variation(
    "control characters",
    r"whether JSON has U+007F to U+009F, which are no line ends of server-sent events, as \uXXXX",
    "as they are",
    ("as they are", "escaped"),
)
LINE_ENDS = Variation("line ends", "what ends the lines of server-sent events", "LF", ("LF", "CRLF"))
SPACES = Variation("space behind data:", "whether an event has a space there", "one", ("one", "none"))
COMMENTS = Variation("comments", "the comments between server-sent events, with 0 for each digit", "none")
EVENT_NAMES = Variation(
    "event names",
    "whether server-sent events have the names of the format, and where",
    "before the data",
    ("before the data", "behind the data", "absent"),
)
COMMAS = Variation(
    "lines of a list",
    "where the lines of a streamed list end",
    "behind the comma",
    ("behind the comma", "around the comma"),
)
PADDING = Variation(
    "before a document",
    "whether white space may precede a document that is not streamed",
    "none",
    ("none", "blank lines"),
)

VARIATIONS = (ESCAPES, CONTROLS, LINE_ENDS, SPACES, COMMENTS, EVENT_NAMES, COMMAS, PADDING)

_ESCAPED = r"(?<!\\)(?:\\\\)*\\u"
_ESCAPED_MARKUP = re.compile(rf"{_ESCAPED}(?:003[ce]|0026)", re.IGNORECASE)
_ESCAPED_LINE_END = re.compile(rf"{_ESCAPED}202[89]", re.IGNORECASE)
_ESCAPED_LETTER = re.compile(rf"{_ESCAPED}(?!202[89])(?:00[a-f]|0[1-9a-f]|[1-9a-f])", re.IGNORECASE)
_RAW_MARKUP = re.compile("[<>\u2028\u2029]")  # not `&`, which protobuf (Google) does not escape
_CONTROL = re.compile("[\x7f-\x9f]")
_ESCAPED_CONTROL = re.compile(rf"{_ESCAPED}00(?:7f|[89][0-9a-f])", re.IGNORECASE)
_COMMENT = re.compile(rb"^:.*$", re.MULTILINE)
_BEGINNING = re.compile(rb'"(?:event_)?type": ?"(?:response[.]created|message[_-]start|interaction[.]created)"')
_DIGIT = re.compile("[0-9]")
_BLANK_LINES = b"\n" + b" " * 9 + b"\n"


def writing(draw: DrawFn, api: Api) -> Writing:
    """Draw how one response is written."""
    escapes = escaping(draw, api)
    if api.framing is not EVENT_STREAM:
        return Writing(escapes, comma="\n,\r\n" if choose(draw, api, COMMAS) == "around the comma" else ",\n")
    comment = choose(draw, api, COMMENTS)
    return Writing(
        escapes,
        "\r\n" if choose(draw, api, LINE_ENDS) == "CRLF" else "\n",
        "" if choose(draw, api, SPACES) == "none" else " ",
        "" if comment == "none" else comment,
        choose(draw, api, EVENT_NAMES),
    )


def escaping(draw: DrawFn, api: Api) -> Escapes:
    """Draw which characters are escaped in JSON."""
    way = choose(draw, api, ESCAPES)
    if way == "markup" and choose(draw, api, CONTROLS) == "escaped":
        return "markup and controls"
    return cast("Escapes", way)


def padding(draw: DrawFn, api: Api) -> bytes:
    """Draw the white space before the document of a plain response."""
    return _BLANK_LINES if choose(draw, api, PADDING) == "blank lines" else b""


def ways_of_bytes(interaction: Interaction) -> Iterator[tuple[Variation, str]]:
    """Yield the ways in which a response is written, as far as its bytes show them."""
    framing = interaction.framing
    if framing is None or not framing.is_binary:
        text = interaction.body.decode("utf-8", "replace")
        yield from ((ESCAPES, way) for way in _escapes(text))
        yield from ((CONTROLS, way) for way in _controls(text))
    if framing is None:
        yield PADDING, "blank lines" if interaction.body[:1].isspace() else "none"
    elif framing is EVENT_STREAM:
        yield from _ways_of_events(interaction.body)
    elif isinstance(framing, Array):
        commas = [frame.partition(b"{")[0] for frame in framing.frames(interaction.body)][1:]
        yield from ((COMMAS, "around the comma" if comma[:1].isspace() else "behind the comma") for comma in commas)


def _escapes(text: str) -> Iterator[str]:
    has_markup = _RAW_MARKUP.search(text)
    if _ESCAPED_MARKUP.search(text):
        yield "markup"
    elif text.isascii() and (_ESCAPED_LETTER.search(text) or (has_markup and _ESCAPED_LINE_END.search(text))):
        yield "beyond ASCII"
    elif has_markup:
        yield "none"


def _controls(text: str) -> Iterator[str]:
    if _CONTROL.search(text):
        yield "as they are"
    elif not text.isascii() and _ESCAPED_CONTROL.search(text):  # ASCII alone may be fully escaped
        yield "escaped"


def _ways_of_events(body: bytes) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of events. Missing names of events count only in formats that name events (`_BEGINNING`)."""
    yield LINE_ENDS, "CRLF" if b"\r\n" in body else "LF"
    yield SPACES, "none" if re.search(rb"^data:[^ \r\n]", body, re.MULTILINE) else "one"
    if re.search(rb"^event:", body, re.MULTILINE):
        behind = re.search(rb"^data:.*\nevent:", body, re.MULTILINE)
        yield EVENT_NAMES, "behind the data" if behind else "before the data"
    elif _BEGINNING.search(body):
        yield EVENT_NAMES, "absent"
    comments = {_DIGIT.sub("0", found.decode("utf-8", "replace").rstrip()) for found in _COMMENT.findall(body)}
    yield from ((COMMENTS, comment) for comment in sorted(comments) or ("none",))
