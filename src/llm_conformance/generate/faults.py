"""What goes wrong between an adapter and its provider: statuses, bodies that are none, connections, broken streams."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.contract import error_for_status
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.generate import framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.generate.conversation import JSON, Conversation, answered, interaction
from llm_conformance.generate.wires import WIRES
from llm_conformance.providers import Provider
from llm_conformance.scenarios import Fault, Mode, Truth

STATUSES = (429, 500, 401, 400, 403, 404, 408, 413, 422, 502, 503, 504, 529)
RETRY_AFTER = "73"
"""Seconds; a number that stands nowhere else."""

_WAITING = (429, 503, 529)
_HTML = b"<html><head><title>Bad gateway</title></head><body>nginx</body></html>"


def refused(draw: DrawFn, row: Provider, mode: Mode) -> Conversation:
    """Draw an error status, with a body of the provider's own form or of somebody's in between."""
    status = pick(draw, *STATUSES)
    kind, body = _error_body(draw, row, status)
    waits = status in _WAITING and either(draw)
    headers = {"content-type": kind} | ({"retry-after": RETRY_AFTER} if waits else {})
    truth = _failure(error_for_status(status).__name__, retry_after=RETRY_AFTER if waits else None)
    return Conversation({mode: interaction(row, mode, body, status=status, headers=headers)}, truth)


def _error_body(draw: DrawFn, row: Provider, status: int) -> tuple[str, bytes]:
    match pick(draw, "own", "own", "html", "empty", "text"):
        case "html":
            return "text/html", _HTML
        case "empty":
            return JSON, b""
        case "text":
            return "text/plain", b"upstream connect error"
    said = pick(draw, "it cannot be done", f"the key {CANARY_KEY} is not allowed to do this")
    values = {"message": said, "type": "some_error", "code": status, "status": status}
    own: Any = {}
    for name, pointer in row.error.items():
        own = _put(own, pointer.split("/"), values[name])
    return JSON, json.dumps(own).encode()


def _put(place: Any, path: Sequence[str], value: Any) -> Any:
    """Return an object, or a list, with a value at a path."""
    if not path:
        return value
    if path[0] == "0":
        return [_put(place[0] if place else {}, path[1:], value)]
    return {**place, path[0]: _put(place.get(path[0], {}), path[1:], value)}


def malformed(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw an answer cut short, or a body that is no answer at all, with status 200."""
    whole = framing.document(draw, WIRES[answer.row.wire].body(draw, answer))
    body = pick(draw, b"{}", b"", b"null", b"[]", b'"text"', b"12", _HTML, b"cut")
    if body == b"cut":
        body = whole[: 1 + at_most(draw, len(whole) - 2)]
    truth = _failure("ValidationError", fault="malformed")
    return Conversation({mode: interaction(answer.row, mode, body)}, truth)


def disconnected(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a connection that the server closes before its answer, or in the middle of it."""
    return _with_fault(draw, answer, mode, "close", "ServiceUnavailableError")


def silent(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a server that says nothing for longer than the call may take, before its answer or in the middle of it."""
    return _with_fault(draw, answer, mode, "silence", "TimeoutError")


def _with_fault(draw: DrawFn, answer: Answer, mode: Mode, kind: str, error: str) -> Conversation:
    whole = answered(draw, answer, mode).interactions[mode]
    # A stream is not whole before its very last bytes; where only the end marker is missing, it may count as whole.
    after = at_most(draw, 3) * len(whole.body) // 5
    fault = Fault("close" if kind == "close" else "silence", after)
    return Conversation({mode: whole}, _failure(error, fault="connection"), fault=fault)


def broken_off(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a stream that ends before anything says that it has ended, or in which the server says that it failed."""
    wire = WIRES[answer.row.wire]
    unfinished = list(_before_the_end(wire.frames(draw, answer), answer))
    kept = unfinished[: at_most(draw, len(unfinished))]
    if either(draw) or not kept:
        kept.append(wire.error_frame(answer.row))
    body = framing.stream(draw, kept, wire.line_end)
    return Conversation({mode: interaction(answer.row, mode, body)}, _failure("LLMError"))


def _before_the_end(frames: Sequence[framing.Frame], answer: Answer) -> Iterator[framing.Frame]:
    word = f'"{answer.word}"'
    for frame in frames:
        if frame.data == "[DONE]" or word in json.dumps(frame.data) or frame.event == "message-end":
            return
        yield frame


def _failure(error: str, **more: Any) -> Truth:
    return Truth(stated=frozenset({"error"}), error=error, **more)
