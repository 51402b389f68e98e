"""What goes wrong between an adapter and its provider: statuses, bodies that are none, connections, broken streams."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.cassette import at_pointer
from llm_conformance.contract import error_for_status
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.generate import framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.generate.conversation import JSON, Conversation, answered, interaction
from llm_conformance.generate.wires import WIRES
from llm_conformance.generate.wires.base import Wire
from llm_conformance.providers import Provider
from llm_conformance.scenarios import Fault, Mode, Truth

STATUSES = (429, 500, 401, 400, 403, 404, 408, 413, 422, 502, 503, 504, 529)
RETRY_AFTER = "73"
"""Seconds; a number that stands nowhere else."""

_WAITING = (429, 503, 529)
_HTML = b"<html><head><title>Bad gateway</title></head><body>nginx</body></html>"


_OF_A_GATEWAY = (("text/html", _HTML), (JSON, b""), ("text/plain", b"upstream connect error"))


def every_status(row: Provider, mode: Mode) -> Iterator[Conversation]:
    """Yield each error status, with a body of the provider's own form."""
    for status in STATUSES:
        yield _refusal(row, mode, status, (JSON, _error_body(row, status, "it cannot be done")), waits=False)


def refused(draw: DrawFn, row: Provider, mode: Mode) -> Conversation:
    """Draw an error status, with a body of the provider's own form or of somebody's in between."""
    status = pick(draw, *STATUSES)
    said = pick(draw, "it cannot be done", f"the key {CANARY_KEY} is not allowed to do this")
    own = JSON, _error_body(row, status, said)
    body = pick(draw, own, own, *_OF_A_GATEWAY)
    return _refusal(row, mode, status, body, waits=status in _WAITING and either(draw))


def _refusal(row: Provider, mode: Mode, status: int, body: tuple[str, bytes], waits: bool) -> Conversation:
    kind, content = body
    headers = {"content-type": kind} | ({"retry-after": RETRY_AFTER} if waits else {})
    truth = _failure(error_for_status(status).__name__, retry_after=RETRY_AFTER if waits else None)
    return Conversation({mode: interaction(row, mode, content, status=status, headers=headers)}, truth)


def _error_body(row: Provider, status: int, said: str) -> bytes:
    values = {"message": said, "type": "some_error", "code": status, "status": status}
    own: Any = {}
    for name, pointer in row.error.items():
        own = _put(own, pointer.split("/"), values[name])
    return json.dumps(own).encode()


def _put(place: Any, path: Sequence[str], value: Any) -> Any:
    """Return an object, or a list, with a value at a path."""
    if not path:
        return value
    if path[0] == "0":
        first, *rest = place or [{}]
        return [_put(first, path[1:], value), *rest]
    return {**place, path[0]: _put(place.get(path[0], {}), path[1:], value)}


_NOTHING = (b"{}", b"", b"null", b"[]", b'"text"', b"12", _HTML)


def malformed(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw an answer cut short, one with a number in the place of all that is to be read, or no answer at all."""
    way = pick(draw, "cut", "wrong type", "nothing")
    if way == "nothing":
        # Of a stream that has no frame, or none with anything in it, it is open what it lacks: a form, or an end.
        error = "ValidationError" if mode == "json" else "LLMError"
        body = pick(draw, *_NOTHING)
    else:
        error = "ValidationError"
        body = (_spoilt_document if mode == "json" else _spoilt_stream)(draw, answer, way)
    return Conversation({mode: interaction(answer.row, mode, body)}, _failure(error, fault="malformed"))


def _spoilt_document(draw: DrawFn, answer: Answer, way: str) -> bytes:
    wire = WIRES[answer.row.wire]
    whole = wire.body(draw, answer)
    if way == "wrong type":
        return framing.document(draw, _mistyped(draw, whole, wire))
    return _cut_short(draw, framing.document(draw, whole))


def _spoilt_stream(draw: DrawFn, answer: Answer, way: str) -> bytes:
    """Draw a stream that goes on to its end, but for one frame."""
    wire = WIRES[answer.row.wire]
    frames = list(wire.frames(draw, answer))
    sound = [number for number, frame in enumerate(frames) if not isinstance(frame.data, str)]
    places = [number for number in sound if _places(frames[number].data, wire)]
    mistyped = way == "wrong type" and bool(places)
    place = pick(draw, *(places if mistyped else sound))
    data: Any = frames[place].data
    cut = _cut_short(draw, json.dumps(data).encode()).decode()
    frames[place] = replace(frames[place], data=_mistyped(draw, data, wire) if mistyped else cut)
    return framing.stream(draw, frames, wire.line_end)


def _places(data: Any, wire: Wire) -> list[str]:
    return [pointer for pointer in wire.structure if at_pointer(data, f"/{pointer}") is not None]


def _mistyped(draw: DrawFn, whole: Mapping[str, Any], wire: Wire) -> Mapping[str, Any]:
    spoilt: Mapping[str, Any] = _put(whole, pick(draw, *_places(whole, wire)).split("/"), 7)
    return spoilt


def _cut_short(draw: DrawFn, whole: bytes) -> bytes:
    """Cut a JSON object anywhere: no beginning of one is JSON."""
    return whole[: 1 + at_most(draw, len(whole) - 2)]


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
    """Draw a stream that ends before it says so, between frames or within one; or that says that it failed."""
    wire = WIRES[answer.row.wire]
    frames = list(wire.frames(draw, answer))
    unfinished = list(itertools.takewhile(lambda frame: not frame.ends, frames))
    kept = unfinished[: at_most(draw, len(unfinished))]
    way = pick(draw, "ends", "fails", "ends within a frame")
    if way == "fails" or (way == "ends" and not kept):
        kept.append(wire.error_frame(answer.row))
    body = framing.stream(draw, kept, wire.line_end)
    truth = _failure("LLMError")
    if way == "ends within a frame":
        body += b"data: " + _cut_short(draw, json.dumps(frames[len(kept)].data).encode())
        truth = replace(truth, fault="malformed")
    return Conversation({mode: interaction(answer.row, mode, body)}, truth)


def _failure(error: str, **more: Any) -> Truth:
    return Truth(stated=frozenset({"error"}), error=error, **more)
