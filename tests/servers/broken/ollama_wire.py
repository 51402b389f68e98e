"""Broken servers of Ollama's chat that fail WIRE rules first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tests.servers.broken.base import Broken
from tests.servers.ollama import OllamaReference
from tests.servers.reference import Answer, Json, RefusalError, Reply


class BrokenLines(Broken, OllamaReference):
    """The reference server of Ollama's chat with one fault."""


# WIRE-1, WIRE-3


class ToolNameRefused(BrokenLines):
    """Does not know the result of a call without an id."""

    fails = ("WIRE-1",)
    says = "status 200; got status 400"

    def check(self, request: Json) -> None:
        super().check(request)
        if any("tool_name" in each for each in request["messages"]):
            raise RefusalError(400, "tool_call_id is missing")


class LinesCalledEvents(BrokenLines):
    """Sends lines as `text/event-stream`."""

    fails = ("WIRE-3",)
    says = 'content type "application/x-ndjson"; got "text/event-stream"'

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        return replace(super().stream(request, answers), content_type="text/event-stream")


# WIRE-24


class EventsInsteadOfLines(BrokenLines):
    """Sends server-sent events, as OpenAI does."""

    fails = ("WIRE-24", "WIRE-6")
    says = "a JSON object on each line; got .data: "

    def frame(self, data: str) -> bytes:
        return f"data: {data}\n\n".encode()


class DoneOfChat(BrokenLines):
    """Ends a stream with `[DONE]`."""

    fails = ("WIRE-24", "WIRE-6")
    says = "a JSON object on each line; got .\\[DONE\\]"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [*super().frames(chunks), b"[DONE]\n"]


class IndentedObjects(BrokenLines):
    """Writes each object on several lines."""

    fails = ("WIRE-24", "WIRE-6")
    says = "a JSON object on each line; got"

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        pieces = [json.dumps(each, indent=1).encode() + b"\n" for each in self.chunks(request, answers)]
        return replace(super().stream(request, answers), pieces=pieces)


class LastLineNotEnded(BrokenLines):
    """Leaves the line break behind the last object out."""

    fails = ("WIRE-24",)
    says = "a line break behind each object; got none"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        *others, last = super().frames(chunks)
        return [*others, last.rstrip(b"\n")]


class LinesInLatin1(BrokenLines):
    """Writes streams in Latin-1."""

    fails = ("WIRE-24",)
    says = "text in UTF-8; got bytes that are not"

    def frame(self, data: str) -> bytes:
        return super().frame(data).decode().encode("latin-1", "replace")


class EmptyStream(BrokenLines):
    """Sends blank lines alone."""

    fails = ("WIRE-24",)
    says = "expected lines; got"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [b"\n"]


# WIRE-6, WIRE-25


class DoneTwice(BrokenLines):
    """Sends the last object twice."""

    fails = ("WIRE-6", "WIRE-25", "SRV-64")
    says = "nothing behind an object with `done: true`"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return super().frames([*chunks, chunks[-1]])


class NeverDone(BrokenLines):
    """Does not say that the last object is the last."""

    fails = ("WIRE-6",)
    says = "an object with `done: true` at the end"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return super().frames([{**each, "done": False} for each in chunks])


class NoReason(BrokenLines):
    """Does not say why an answer ends."""

    fails = ("WIRE-25",)
    says = "a done_reason beside `done: true`; got null"

    def end(self, answer: Answer) -> Json:
        return {name: value for name, value in super().end(answer).items() if name != "done_reason"}


class ReasonInEachObject(BrokenLines):
    """Says in each object why the answer ends."""

    fails = ("WIRE-25",)
    says = 'no done_reason before the end; got "stop"'

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return [{**each, "done_reason": answers[0].finish} for each in super().chunks(request, answers)]


# WIRE-7, WIRE-8


class ArgumentsAsText(BrokenLines):
    """Writes the arguments of calls as a text, as OpenAI does."""

    fails = ("WIRE-7", "WIRE-8", "SRV-31")
    says = "arguments: must be an object"

    def call(self, number: int, name: str, arguments: str) -> Json:
        return {"function": {"index": number, "name": name, "arguments": arguments}}


class TimeAsNumber(BrokenLines):
    """Gives the time as seconds since 1970."""

    fails = ("WIRE-7", "WIRE-8")
    says = "created_at: must be a string"

    def object(self, message: Json) -> Json:
        return {**super().object(message), "created_at": 1767225600}


class TimeWithoutZone(BrokenLines):
    """Gives the time without its zone, as Python does unasked."""

    fails = ("WIRE-7", "WIRE-8")
    says = "created_at: must be a time like"

    def object(self, message: Json) -> Json:
        return {**super().object(message), "created_at": "2026-11-24T08:00:00.123456"}


class SecondsAsFractions(BrokenLines):
    """Gives durations as fractions of a second."""

    fails = ("WIRE-7", "WIRE-8")
    says = "duration: must be an integer"

    def durations(self, answer: Answer) -> Json:
        return {name: value / 1e9 for name, value in super().durations(answer).items()}


class ContentIsNull(BrokenLines):
    """Has null as the content of a message with calls."""

    fails = ("WIRE-7",)
    says = "message.content: must be a string"

    def message(self, answer: Answer) -> Json:
        message = super().message(answer)
        return {**message, "content": message["content"] or None}


class ResponseOfGenerate(BrokenLines):
    """Sends the text of a stream as `/api/generate` does."""

    fails = ("WIRE-8", "SRV-50", "SRV-6", "SRV-7", "SRV-41")
    says = "`message` is missing"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return super().frames([{**_without(each, "message"), "response": ""} for each in chunks])


def _without(document: Json, name: str) -> Json:
    return {key: value for key, value in document.items() if key != name}


# WIRE-26


class ErrorOfOpenAi(BrokenLines):
    """Writes errors as chat completions do."""

    fails = ("WIRE-26",)
    says = "a JSON object with a text as `error`"

    def error(self, refusal: RefusalError) -> Json:
        return {"error": refusal.error}


class ErrorAsPlainText(BrokenLines):
    """Refuses with a text."""

    fails = ("WIRE-26",)
    says = 'content type "application/json"; got "text/plain"'

    def refusal(self, refusal: RefusalError) -> Reply:
        return Reply(refusal.status, "text/plain", [str(refusal).encode()])
