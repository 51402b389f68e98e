"""WIRE-24 and WIRE-25: the lines of a stream, and its end."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, fail
from llm_conformance.server.apis.ollama import before_the_last
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.wire.framings.base import json_value

_APIS = ("ollama",)


@rule("WIRE-24", harm="lost", modes=("stream",), apis=_APIS)
def is_a_stream_of_lines(exchange: Exchange) -> None:
    r"""A stream of lines has a JSON object in UTF-8 on each line, and `\n` after each line, also after the last.

    A client reads line by line. It waits for the end of each line, and fails at a line that is not JSON.

    Source: https://docs.ollama.com/api/streaming ("newline-delimited JSON format"), with
    https://github.com/ndjson/ndjson-spec#31-serialization ("followed by the newline character").
    """
    body = exchange.body
    try:
        lines = exchange.events
    except Blocked:
        fail("text in UTF-8", f"bytes that are not: {show(body[:300].decode('utf-8', 'replace'))}")
    if not lines:
        fail("lines", show(body[:300].decode("utf-8", "replace")) if body else "an empty body")
    for number, line in enumerate(lines, start=1):
        if not _is_object(line.data):
            fail("a JSON object on each line", show(line.data), f"event {number}")
        if not line.is_ended:
            fail("a line break behind each object", f"none behind {show(line.data)}", f"event {number}")


@rule("WIRE-25", harm="false success", apis=_APIS)
def last_object_says_why(exchange: Exchange) -> None:
    """The object with `done: true` has a `done_reason`, and no object before it has one.

    Without a reason, a client cannot tell a whole answer from one that was cut off. Some clients stop at the first
    reason.

    Source: https://docs.ollama.com/api/chat ("done_reason": "Reason the response finished"), and
    https://docs.ollama.com/api/streaming (the last line of the example).
    """
    for where, document in before_the_last(exchange.documents):
        if document.get("done_reason"):
            fail("no done_reason before the end", show(document["done_reason"]), where)
    last = exchange.documents[-1]
    if last.get("done") is not True:
        raise Blocked("the answer has no object with `done: true`; WIRE-6 or WIRE-7 reports that")
    if not last.get("done_reason"):
        fail("a done_reason beside `done: true`", show(last.get("done_reason")))


def _is_object(data: str) -> bool:
    try:
        return isinstance(json_value(data), dict)
    except (ValueError, RecursionError):
        return False
