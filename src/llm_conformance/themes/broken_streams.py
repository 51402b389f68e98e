"""Streams that begin well, and then break off or end with an error that the API is known to send."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.themes.conversation import Conversation, failing
from llm_conformance.themes.failing import ANY, class_meant, failure, values
from llm_conformance.wire.framings.base import DONE, Frame
from llm_conformance.wire.framings.server_sent_events import EventStream
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.errors import StreamError, filled

T = TypeVar("T")


def broken(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a stream that breaks off, or that ends with an error which the API is known to send in streams."""
    if answer.api.stream_errors and either(draw):
        return _failing(draw, answer, mode, pick(draw, *answer.api.stream_errors))
    return _broken_off(draw, answer, mode)


def _broken_off(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a stream that ends too early: between frames, before a blank line, within a character, or within a frame."""
    generator = GENERATORS[answer.api.wire]
    api = answer.api
    frames = generator.stream(draw, answer)
    pieces = framing.pieces(draw, frames, api)
    whole = b"".join(pieces)
    unfinished = before_the_end(frames, pieces)
    number = at_most(draw, len(unfinished))
    kept = b"".join(unfinished[:number])
    in_characters = () if api.framing.is_binary else framing.in_characters(b"".join(unfinished))
    ways = {
        "between frames": number > 0,
        "before a blank line": number > 0 and isinstance(api.framing, EventStream),
        "in a character": bool(in_characters),
        "within a frame": True,
    }
    way = pick(draw, *(way for way, is_possible in ways.items() if is_possible))
    broken_off = failure(ANY, fault="incomplete")
    if way == "between frames":
        return failing(answer, mode, kept, whole, broken_off)
    if way == "before a blank line":
        return failing(answer, mode, kept.rstrip(b"\r\n"), whole, broken_off)
    if way == "in a character":
        body = b"".join(unfinished)[: in_characters[at_most(draw, len(in_characters) - 1)]]
    else:
        body = kept + framing.cut_short(draw, pieces[number])
    return failing(answer, mode, body, whole, broken_off)


def _failing(draw: DrawFn, answer: Answer, mode: Mode, error: StreamError) -> Conversation:
    """Draw a stream with this error, in one of the places that the provider table gives for it."""
    generator = GENERATORS[answer.api.wire]
    frames = list(generator.stream(draw, answer))
    unfinished = before_the_end(frames, frames)
    if error.place == "behind the finish":
        kept = [replace(frame, ends=False) for frame in frames[: len(unfinished) + 1]]
    else:
        kept = unfinished[: at_most(draw, len(unfinished))] if error.place == "before the finish" else []
    data, *then = (_filled(each, answer) for each in (error.data, *error.then))
    sent = [Frame(data, error.event or None), *(_following(each, error) for each in then)] if error.framed else []
    body = framing.stream(draw, _closed([*kept, *sent], is_whole=error.framed), answer.api)
    unframed = b"" if error.framed else json.dumps(data, indent=2).encode() + b"\n"
    whole = framing.stream(draw, frames, answer.api)
    # For a reader of server-sent events, a stream with an unframed error only ends too early.
    failed = failure(class_meant(error)) if error.framed else failure(ANY, fault="incomplete")
    return failing(answer, mode, body + unframed, whole, failed)


def _filled(template: str, answer: Answer) -> Any:
    known = values(answer.api, "the server broke down", answer.model, answer.id)
    return template if template == DONE else filled(template, known)


def _following(data: Any, error: StreamError) -> Frame:
    """Return a frame that follows an error. If the error is a named event, the frame gets its own type as its name."""
    return Frame(data, data["type"] if error.event and data != DONE else None)


def _closed(frames: list[Frame], is_whole: bool) -> list[Frame]:
    """Return the frames.

    If they are the whole stream, the last one is marked as its end, because some framings close the stream after it.
    """
    return [*frames[:-1], replace(frames[-1], ends=True)] if frames and is_whole else frames


def before_the_end(frames: Sequence[Frame], pieces: Iterable[T]) -> list[T]:
    """Return the pieces of the frames before the first frame that ends the answer."""
    return [piece for _, piece in itertools.takewhile(lambda pair: not pair[0].ends, zip(frames, pieces, strict=True))]
