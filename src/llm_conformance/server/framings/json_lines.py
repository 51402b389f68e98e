"""The lines of a stream of JSON documents: https://github.com/ndjson/ndjson-spec."""

from __future__ import annotations

from collections.abc import Iterator

from llm_conformance.server.framings.framing import Event, Framing


def lines(body: bytes) -> Iterator[Event]:
    r"""Yield the lines that are not blank, without outer white space. Raises UnicodeDecodeError.

    Only "\n" ends a line, because JSON texts may contain other line separators, such as U+2028.
    """
    *ended, rest = body.decode("utf-8").split("\n")
    yield from (Event(line.strip(" \t\r"), "", True) for line in ended if line.strip(" \t\r"))
    if rest.strip(" \t\r"):
        yield Event(rest.strip(" \t\r"), "", False)


JSON_LINES = Framing("application/x-ndjson", lines)
"""A JSON document on each line."""
