"""The events of a stream, unchanged: https://html.spec.whatwg.org/multipage/server-sent-events.html.

The parser in `wire.framings` skips what is wrong with a stream. The rules about servers need to see that, so this is a
second parser.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from llm_conformance.server.framings.framing import Event, Framing
from llm_conformance.wire.framings.base import DONE

_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELDS = ("data", "event", "id", "retry")


def events(body: bytes) -> Iterator[Event]:
    """Yield the events that have data. Raises UnicodeDecodeError."""
    data: list[str] = []
    name = ""
    for line in _LINE_END.split(body.removeprefix(codecs.BOM_UTF8).decode("utf-8")):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                yield Event("\n".join(data), name, True)
            data, name = [], ""
        elif field == "data":
            data.append(value)
        elif field == "event":
            name = value
    if data:
        yield Event("\n".join(data), name, False)


def foreign_lines(body: bytes) -> Iterator[str]:
    """Yield the lines that are not blank, comments or fields of the standard. Raises UnicodeDecodeError."""
    for line in _LINE_END.split(body.removeprefix(codecs.BOM_UTF8).decode("utf-8")):
        if line and line.partition(":")[0] not in ("", *_FIELDS):
            yield line


SERVER_SENT_EVENTS = Framing("text/event-stream", events, DONE)
"""Server-sent events. `[DONE]` may end them."""
