"""What goes wrong between an adapter and its provider: statuses, malformed bodies, connections, broken streams."""

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
from llm_conformance.generate.generator import Generator
from llm_conformance.pointers import at_pointer, placed
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Fault, FaultKind
from llm_conformance.themes.conversation import JSON, Conversation, answered, interaction
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

T = TypeVar("T")

STATUSES = (429, 500, 401, 400, 402, 403, 404, 408, 409, 413, 422, 502, 503, 504, 520, 529)
RETRY_AFTER = "86397"
"""Seconds; a number that occurs nowhere else."""

_WITH_RETRY_AFTER = (429, 503, 529)
_OUTAGES = (503, 500, 502, 529)
_HTML = b"<html><head><title>Bad gateway</title></head><body>nginx</body></html>"
_GATEWAY_BODIES = (("text/html", _HTML), (JSON, b""), ("text/plain", b"upstream connect error"))


def every_status(api: Api, mode: Mode) -> Iterator[Conversation]:
    """Yield each error status, with an error body as the provider sends it."""
    for status in STATUSES:
        yield _refusal(api, mode, status, (JSON, _error_body(api, status, "it cannot be done")), retry_after=False)


def refused(draw: DrawFn, api: Api, mode: Mode) -> Conversation:
    """Draw an error status, with an error body of the provider or of a gateway."""
    status = pick(draw, *STATUSES)
    message = pick(draw, "it cannot be done", f"the key {CANARY_KEY[:8]}***{CANARY_KEY[-4:]} is not allowed to do this")
    own = JSON, _error_body(api, status, message)
    content = pick(draw, own, own, *_GATEWAY_BODIES)
    return _refusal(api, mode, status, content, retry_after=status in _WITH_RETRY_AFTER and either(draw))


def _refusal(api: Api, mode: Mode, status: int, content: tuple[str, bytes], retry_after: bool) -> Conversation:
    content_type, body = content
    headers = {"content-type": content_type} | ({"retry-after": RETRY_AFTER} if retry_after else {})
    expected = _failure(error_for_status(status).__name__, retry_after=RETRY_AFTER if retry_after else None)
    model = next(iter(api.models))
    return Conversation({mode: interaction(api, mode, body, model, status=status, headers=headers)}, expected, model)


def _error_body(api: Api, status: int, message: str) -> bytes:
    code = status if api.error_code == "number" else "some_code"
    values = {"message": message, "type": "some_error", "code": code, "status": status}
    body: Any = {}
    for name, path in api.error.items():
        body = placed(body, f"/{path}", values[name])
    return json.dumps(body).encode()


Way = Literal["cut", "wrong type", "nothing"]
_NOTHING = (b"{}", b"", b"null", b"[]", b'"text"', b"12", _HTML)


def malformed(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a body that is cut short, that has a number in place of a structure, or that is not a response at all.

    In a stream, this happens to one of the frames that every reader needs; all others are whole.
    """
    ways: tuple[Way, ...] = ("cut", "wrong type", "nothing")
    way = pick(draw, *ways)
    if way == "nothing":
        # A stream without frames may be malformed or broken off: both errors are right.
        error = "ValidationError" if mode == "json" else "LLMError"
        body = pick(draw, *_NOTHING)
    else:
        error = "ValidationError"
        body = (_malformed_document if mode == "json" else _malformed_stream)(draw, answer, way)
    expected = _failure(error, fault="malformed")
    return Conversation({mode: interaction(answer.api, mode, body, answer.asked)}, expected, answer.asked)


def _malformed_document(draw: DrawFn, answer: Answer, way: Way) -> bytes:
    generator = GENERATORS[answer.api.wire]
    whole = generator.document(draw, answer)
    if way == "wrong type":
        return framing.document(draw, _mistyped(draw, whole, generator))
    return framing.cut_short(draw, framing.document(draw, whole))


def _malformed_stream(draw: DrawFn, answer: Answer, way: Way) -> bytes:
    """Draw a stream of whole frames, except for one. That one is cut short if it has no structure to replace."""
    generator = GENERATORS[answer.api.wire]
    frames = list(generator.stream(draw, answer))
    carriers = [number for number, frame in enumerate(frames) if _is_needed(frame, generator)]
    replaceable = [number for number in carriers if _structures(frames[number].data, generator)]
    mistyped = way == "wrong type" and bool(replaceable)
    number = pick(draw, *(replaceable if mistyped else carriers))
    data: Any = frames[number].data
    cut = framing.cut_short(draw, json.dumps(data).encode()).decode()
    frames[number] = replace(frames[number], data=_mistyped(draw, data, generator) if mistyped else cut)
    return framing.stream(draw, frames, generator.style(answer.api))


def _is_needed(frame: Frame, generator: Generator) -> bool:
    if isinstance(frame.data, str):
        return False
    return not generator.carriers or frame.data.get("type") in generator.carriers


def _structures(data: Any, generator: Generator) -> list[str]:
    return [pointer for pointer in generator.structure if at_pointer(data, pointer) is not None]


def _mistyped(draw: DrawFn, whole: Mapping[str, Any], generator: Generator) -> Mapping[str, Any]:
    mistyped: Mapping[str, Any] = placed(whole, pick(draw, *_structures(whole, generator)), pick(draw, 7, True))
    return mistyped


def disconnected(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a connection that is refused, closed or reset, before the response or within it."""
    kinds: tuple[FaultKind, ...] = ("close", "reset", "refused")
    return _lost(draw, answer, mode, pick(draw, *kinds), "ServiceUnavailableError")


def outage(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw the response to a second request. The first request gets an error status."""
    conversation = answered(draw, answer, mode)
    status = pick(draw, *_OUTAGES)
    refusal = _refusal(
        answer.api, mode, status, (JSON, _error_body(answer.api, status, "try again")), retry_after=False
    )
    return replace(conversation, outage=refusal.interactions[mode])


def silent(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a server that is silent for longer than the call may take, before the response or within it."""
    return _lost(draw, answer, mode, "silence", "TimeoutError")


def _lost(draw: DrawFn, answer: Answer, mode: Mode, kind: FaultKind, error: str) -> Conversation:
    """Draw a response that is sent in part. A stream is cut before the frame that ends it."""
    generator = GENERATORS[answer.api.wire]
    if mode == "stream":
        frames = generator.stream(draw, answer)
        pieces = framing.pieces(draw, frames, generator.style(answer.api))
        body = b"".join(pieces)
        most = sum(len(piece) for piece in _before_the_end(frames, pieces))
    else:
        body = framing.document(draw, generator.document(draw, answer))
        most = len(body) - 1
    fault = Fault(kind, 0 if kind == "refused" else most * (3 - at_most(draw, 3)) // 3)
    expected = _failure(error, fault="connection")
    return Conversation({mode: interaction(answer.api, mode, body, answer.asked)}, expected, answer.asked, fault=fault)


def _before_the_end(frames: Sequence[Frame], pieces: Iterable[T]) -> list[T]:
    """Return the pieces of the frames before the first frame that ends the answer."""
    return [piece for _, piece in itertools.takewhile(lambda pair: not pair[0].ends, zip(frames, pieces, strict=True))]


def broken_off(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a stream that breaks off, between frames or within one, or that ends with an error frame."""
    generator = GENERATORS[answer.api.wire]
    frames = list(generator.stream(draw, answer))
    unfinished = _before_the_end(frames, frames)
    kept = unfinished[: at_most(draw, len(unfinished))]
    way = pick(draw, "ends", "fails", "ends within a frame")
    if way == "fails" or (way == "ends" and not kept):
        kept.append(generator.error_frame(answer.api))
    expected = _failure("LLMError")
    if way == "ends within a frame":
        *before, last = framing.pieces(draw, [*kept, frames[len(kept)]], generator.style(answer.api))
        body = b"".join(before) + framing.cut_short(draw, last)
        expected = replace(expected, fault="malformed")
    else:
        body = framing.stream(draw, kept, generator.style(answer.api))
    return Conversation({mode: interaction(answer.api, mode, body, answer.asked)}, expected, answer.asked)


def _failure(
    error: str, fault: Literal["", "malformed", "connection"] = "", retry_after: str | None = None
) -> Expected:
    return Expected(stated=frozenset({"error"}), error=error, fault=fault, retry_after=retry_after)
