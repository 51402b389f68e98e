"""Bodies with status 200 that are not answers: cut short, empty, the page of a proxy, or JSON of another form.

A stream that is cut short is one of the broken streams (`themes.broken_streams`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.gateways import PAGE
from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import either, pick
from llm_conformance.generate.generator import Generator
from llm_conformance.pointers import at_pointer, placed
from llm_conformance.themes.conversation import Conversation, failing
from llm_conformance.themes.failing import ANY, failure
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode

_OTHER_JSON = (b"{}", b"null", b"[]", b'"text"', b"12")
"""Documents with no part of an answer."""


def malformed(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw what failing gateways and servers send: a page of HTML, nothing, or a document that is cut short.

    The core faults `html` and `truncated` cite reports of such bodies.
    """
    way = pick(draw, "page", "nothing") if mode == "stream" else pick(draw, "cut", "cut", "page", "nothing")
    frames = list(GENERATORS[answer.api.wire].stream(draw, answer)) if mode == "stream" else []
    whole = _whole(draw, answer, frames)
    if way == "page":
        return _no_answer(answer, mode, PAGE, whole, {"content-type": "text/html; charset=utf-8"})
    if way == "nothing":
        return _no_answer(answer, mode, b"", whole)
    return _malformed(answer, mode, framing.cut_short(draw, whole), whole)


def mistyped(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw JSON that is not an answer: with 7 or `true` in place of a structure, or without any part of an answer.

    In a stream, a frame that every reader needs can also be cut short, while all other frames are whole. No provider is
    known to send any of these.
    """
    generator = GENERATORS[answer.api.wire]
    is_other = either(draw)
    # No reader needs the choices that are not the answer.
    answer = answer if is_other else replace(answer, choices=1)
    frames = list(generator.stream(draw, answer)) if mode == "stream" else []
    whole = _whole(draw, answer, frames)
    if is_other:
        return _no_answer(answer, mode, pick(draw, *_OTHER_JSON), whole)
    if mode == "json":
        altered = _with_a_number(draw, generator.document(draw, answer), generator)
        return _malformed(answer, mode, framing.document(draw, altered, answer.api), whole)
    if either(draw):
        number = pick(draw, *_needed(frames, generator))
        cut = framing.cut_short(draw, json.dumps(frames[number].data).encode()).decode()
        frames[number] = replace(frames[number], data=cut)
        return _malformed(answer, mode, framing.stream(draw, frames, answer.api), whole)
    replaceable = [number for number in _needed(frames, generator) if _structures(frames[number].data, generator)]
    if not replaceable:
        return _no_answer(answer, mode, pick(draw, *_OTHER_JSON), whole)
    number = pick(draw, *replaceable)
    data: Any = frames[number].data
    frames[number] = replace(frames[number], data=_with_a_number(draw, data, generator))
    return _malformed(answer, mode, framing.stream(draw, frames, answer.api), whole)


def _whole(draw: DrawFn, answer: Answer, frames: Sequence[Frame]) -> bytes:
    """Draw the bytes of the answer. If there are frames, draw the bytes of a stream of these frames."""
    if frames:
        return framing.stream(draw, frames, answer.api)
    return framing.document(draw, GENERATORS[answer.api.wire].document(draw, answer), answer.api)


def _malformed(answer: Answer, mode: Mode, body: bytes, whole: bytes) -> Conversation:
    return failing(answer, mode, body, whole, failure("ValidationError", fault="malformed"))


def _no_answer(
    answer: Answer, mode: Mode, body: bytes, whole: bytes, headers: Mapping[str, str] | None = None
) -> Conversation:
    # A stream without frames may be malformed or broken off, so any error is right.
    failed = failure("ValidationError", "malformed") if mode == "json" else failure(ANY, "incomplete")
    return failing(answer, mode, body, whole, failed, headers=headers)


def _needed(frames: Sequence[Frame], generator: Generator) -> list[int]:
    """Return the positions of the frames that every reader needs."""
    return [number for number, frame in enumerate(frames) if _is_needed(frame, generator)]


def _is_needed(frame: Frame, generator: Generator) -> bool:
    if isinstance(frame.data, str):
        return False
    return not generator.carriers or frame.data.get("type") in generator.carriers


def _structures(data: Any, generator: Generator) -> list[str]:
    """Return JSON pointers to the values that every reader needs.

    If there is a delta, nobody needs the whole message.
    """
    found = [pointer for pointer in generator.structure if at_pointer(data, pointer) is not None]
    deltas = {pointer.removesuffix("/delta") for pointer in found if pointer.endswith("/delta")}
    return [each for each in found if not (each.endswith("/message") and each.removesuffix("/message") in deltas)]


def _with_a_number(draw: DrawFn, whole: Mapping[str, Any], generator: Generator) -> Mapping[str, Any]:
    altered: Mapping[str, Any] = placed(whole, pick(draw, *_structures(whole, generator)), pick(draw, 7, True))
    return altered
