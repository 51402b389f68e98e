"""Connections that fail: refused, closed, reset or silent, before the response or within it."""

from __future__ import annotations

from hypothesis.strategies import DrawFn

from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import at_most, pick
from llm_conformance.scenarios.scenario import Fault, FaultKind
from llm_conformance.themes.broken_streams import before_the_end
from llm_conformance.themes.conversation import Conversation, failing
from llm_conformance.themes.failing import failure
from llm_conformance.wire.interaction import Mode


def disconnected(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a connection that is refused, closed or reset, before the response or within it."""
    kinds: tuple[FaultKind, ...] = ("close", "reset", "refused")
    return _lost(draw, answer, mode, pick(draw, *kinds), "ServiceUnavailableError")


def silent(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a server that becomes silent for longer than the call may take, before the response or within it."""
    return _lost(draw, answer, mode, "silence", "TimeoutError")


def _lost(draw: DrawFn, answer: Answer, mode: Mode, kind: FaultKind, error: str) -> Conversation:
    """Draw a response that the server sends only a part of. A stream is cut before the frame that ends it."""
    generator = GENERATORS[answer.api.wire]
    if mode == "stream":
        frames = generator.stream(draw, answer)
        pieces = framing.pieces(draw, frames, answer.api)
        body = b"".join(pieces)
        most = sum(len(piece) for piece in before_the_end(frames, pieces))
    else:
        body = framing.document(draw, generator.document(draw, answer), answer.api)
        most = len(body) - 1
    fault = Fault(kind, 0 if kind == "refused" else most * (3 - at_most(draw, 3)) // 3)
    return failing(answer, mode, body, body, failure(error, fault="connection"), fault)
