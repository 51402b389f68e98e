"""What goes wrong between an adapter and its provider: statuses, bodies that are none, connections, broken streams."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from hypothesis.strategies import DrawFn

from llm_conformance.contract import error_for_status
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.generate.wire import Wire
from llm_conformance.pointers import at_pointer, placed
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Fault, FaultKind
from llm_conformance.themes.conversation import JSON, Conversation, answered, interaction
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

T = TypeVar("T")

STATUSES = (429, 500, 401, 400, 402, 403, 404, 408, 409, 413, 422, 502, 503, 504, 520, 529)
RETRY_AFTER = "86397"
"""Seconds; a number that stands nowhere else."""

_WAITING = (429, 503, 529)
_DOWN = (503, 500, 502, 529)
_HTML = b"<html><head><title>Bad gateway</title></head><body>nginx</body></html>"


_OF_A_GATEWAY = (("text/html", _HTML), (JSON, b""), ("text/plain", b"upstream connect error"))


def every_status(api: Api, mode: Mode) -> Iterator[Conversation]:
    """Yield each error status, with a body of the provider's own form."""
    for status in STATUSES:
        yield _refusal(api, mode, status, (JSON, _error_body(api, status, "it cannot be done")), waits=False)


def refused(draw: DrawFn, api: Api, mode: Mode) -> Conversation:
    """Draw an error status, with a body of the provider's own form or of somebody's in between."""
    status = pick(draw, *STATUSES)
    said = pick(draw, "it cannot be done", f"the key {CANARY_KEY} is not allowed to do this")
    own = JSON, _error_body(api, status, said)
    body = pick(draw, own, own, *_OF_A_GATEWAY)
    return _refusal(api, mode, status, body, waits=status in _WAITING and either(draw))


def _refusal(api: Api, mode: Mode, status: int, body: tuple[str, bytes], waits: bool) -> Conversation:
    kind, content = body
    headers = {"content-type": kind} | ({"retry-after": RETRY_AFTER} if waits else {})
    expected = _failure(error_for_status(status).__name__, retry_after=RETRY_AFTER if waits else None)
    return Conversation({mode: interaction(api, mode, content, status=status, headers=headers)}, expected)


def _error_body(api: Api, status: int, said: str) -> bytes:
    code = status if api.error_code == "number" else "some_code"
    values = {"message": said, "type": "some_error", "code": code, "status": status}
    own: Any = {}
    for name, pointer in api.error.items():
        own = placed(own, f"/{pointer}", values[name])
    return json.dumps(own).encode()


Way = Literal["cut", "wrong type", "nothing"]
_NOTHING = (b"{}", b"", b"null", b"[]", b'"text"', b"12", _HTML)


def malformed(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw an answer that is cut short, or has a number where there has to be something to read; or no answer at all.

    In a stream this happens to one frame, of those that everybody has to read; all others are whole.
    """
    ways: tuple[Way, ...] = ("cut", "wrong type", "nothing")
    way = pick(draw, *ways)
    if way == "nothing":
        # Of a stream that has no frame, or none with anything in it, it is open what it lacks: a form, or an end.
        error = "ValidationError" if mode == "json" else "LLMError"
        body = pick(draw, *_NOTHING)
    else:
        error = "ValidationError"
        body = (_spoilt_document if mode == "json" else _spoilt_stream)(draw, answer, way)
    return Conversation({mode: interaction(answer.api, mode, body)}, _failure(error, fault="malformed"))


def _spoilt_document(draw: DrawFn, answer: Answer, way: Way) -> bytes:
    wire = GENERATORS[answer.api.wire]
    whole = wire.body(draw, answer)
    if way == "wrong type":
        return framing.document(draw, _mistyped(draw, whole, wire))
    return framing.cut_short(draw, framing.document(draw, whole))


def _spoilt_stream(draw: DrawFn, answer: Answer, way: Way) -> bytes:
    """Draw a stream that goes on to its end, but for one frame; it is cut short where no type can be wrong."""
    wire = GENERATORS[answer.api.wire]
    frames = list(wire.frames(draw, answer))
    carriers = [number for number, frame in enumerate(frames) if _has_to_be_read(frame, wire)]
    places = [number for number in carriers if _places(frames[number].data, wire)]
    mistyped = way == "wrong type" and bool(places)
    place = pick(draw, *(places if mistyped else carriers))
    data: Any = frames[place].data
    cut = framing.cut_short(draw, json.dumps(data).encode()).decode()
    frames[place] = replace(frames[place], data=_mistyped(draw, data, wire) if mistyped else cut)
    return framing.stream(draw, frames, wire.style(answer.api))


def _has_to_be_read(frame: framing.Frame, wire: Wire) -> bool:
    if isinstance(frame.data, str):
        return False
    return not wire.carriers or frame.data.get("type") in wire.carriers


def _places(data: Any, wire: Wire) -> list[str]:
    return [pointer for pointer in wire.structure if at_pointer(data, pointer) is not None]


def _mistyped(draw: DrawFn, whole: Mapping[str, Any], wire: Wire) -> Mapping[str, Any]:
    spoilt: Mapping[str, Any] = placed(whole, pick(draw, *_places(whole, wire)), pick(draw, 7, True))
    return spoilt


def disconnected(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a connection that is refused; or that the server closes or breaks off, before its answer or within it."""
    kinds: tuple[FaultKind, ...] = ("close", "reset", "refused")
    return _lost(draw, answer, mode, pick(draw, *kinds), "ServiceUnavailableError")


def outage(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw an answer to the second request; the first one meets a provider that is down."""
    told = answered(draw, answer, mode)
    status = pick(draw, *_DOWN)
    down = _refusal(answer.api, mode, status, (JSON, _error_body(answer.api, status, "try again")), waits=False)
    return replace(told, outage=down.interactions[mode])


def silent(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a server that says nothing for longer than the call may take, before its answer or in the middle of it."""
    return _lost(draw, answer, mode, "silence", "TimeoutError")


def _lost(draw: DrawFn, answer: Answer, mode: Mode, kind: FaultKind, error: str) -> Conversation:
    """Draw an answer of which a part comes. Behind the frame that ends a stream, nothing has to come any more."""
    wire = GENERATORS[answer.api.wire]
    if mode == "stream":
        frames = wire.frames(draw, answer)
        pieces = framing.pieces(draw, frames, wire.style(answer.api))
        body = b"".join(pieces)
        most = sum(len(piece) for piece in _before_the_end(frames, pieces))
    else:
        body = framing.document(draw, wire.body(draw, answer))
        most = len(body) - 1
    fault = Fault(kind, 0 if kind == "refused" else most * (3 - at_most(draw, 3)) // 3)
    expected = _failure(error, fault="connection")
    return Conversation({mode: interaction(answer.api, mode, body)}, expected, fault=fault)


def _before_the_end(frames: Sequence[framing.Frame], pieces: Iterable[T]) -> list[T]:
    """Return what stands, for each frame, before the first frame that ends the answer."""
    return [
        piece for frame, piece in itertools.takewhile(lambda both: not both[0].ends, zip(frames, pieces, strict=True))
    ]


def broken_off(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a stream that ends before it says so, between frames or within one; or that says that it failed."""
    wire = GENERATORS[answer.api.wire]
    frames = list(wire.frames(draw, answer))
    unfinished = _before_the_end(frames, frames)
    kept = unfinished[: at_most(draw, len(unfinished))]
    way = pick(draw, "ends", "fails", "ends within a frame")
    if way == "fails" or (way == "ends" and not kept):
        kept.append(wire.error_frame(answer.api))
    expected = _failure("LLMError")
    if way == "ends within a frame":
        *before, last = framing.pieces(draw, [*kept, frames[len(kept)]], wire.style(answer.api))
        body = b"".join(before) + framing.cut_short(draw, last)
        expected = replace(expected, fault="malformed")
    else:
        body = framing.stream(draw, kept, wire.style(answer.api))
    return Conversation({mode: interaction(answer.api, mode, body)}, expected)


def _failure(
    error: str, fault: Literal["", "malformed", "connection"] = "", retry_after: str | None = None
) -> Expected:
    return Expected(stated=frozenset({"error"}), error=error, fault=fault, retry_after=retry_after)
