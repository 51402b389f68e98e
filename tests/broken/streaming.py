"""Broken adapters that fail STR-1 to STR-9 first: stream events and the way the bytes are cut."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters import ReferenceAdapters, _framing
from adapters._chat_decoder import ChatDecoder
from adapters._responses import ResponsesDecoder
from llm_conformance.contract import Call, Response, ServiceUnavailableError, StreamEvent
from tests.broken.base import Broken, Events, FaultyDecoder, FaultyEvents, FaultyFraming

# STR-1


class ExtraSpaceInStreams(FaultyEvents):
    """Adds a space to every text delta."""

    fails = ("STR-1",)
    says = "expected the joined text deltas"

    def alter(self, events: Events) -> Events:
        for event in events:
            is_text = event.event_type == "response.output_text.delta"
            yield replace(event, delta=f"{event.delta} ") if is_text else event


class ToolDeltaIdDiffers(FaultyEvents):
    """Gives the pieces of a tool call another id than the call."""

    fails = ("STR-1",)
    says = "expected the folded tool calls.*the `delta`s of response.function_call_arguments.delta events are joined"

    def alter(self, events: Events) -> Events:
        for event in events:
            yield replace(event, tool_call=event.tool_call and replace(event.tool_call, id="item_1"))


class LastDeltaLost(FaultyEvents):
    """Yields each delta only when the next one comes, and so loses the last."""

    fails = ("STR-1", "STR-7")
    says = "expected the joined text deltas"

    def alter(self, events: Events) -> Events:
        last = None
        for event in events:
            if event.event_type != "response.output_text.delta":
                yield event
            else:
                if last is not None:
                    yield last
                last = event


class CompletedIsPartial(FaultyEvents):
    """Completes a stream with the text of the last delta only."""

    fails = ("STR-1", "MSG-2", "MSG-3")
    says = "expected the joined text deltas"

    def alter(self, events: Events) -> Events:
        last = ""
        for event in events:
            last = event.delta or last if event.event_type == "response.output_text.delta" else last
            yield replace(event, response=event.response and replace(event.response, message=last))


# STR-2


class CompletedMissing(FaultyEvents):
    """Ends a stream without `response.completed`."""

    fails = ("STR-2",)
    says = "expected the number of terminal events 1; got 0"

    def alter(self, events: Events) -> Events:
        return (event for event in events if event.event_type != "response.completed")


class CompletedTwice(FaultyEvents):
    """Yields `response.completed` twice."""

    fails = ("STR-2",)
    says = "expected the number of terminal events 1; got 2"

    def alter(self, events: Events) -> Events:
        for event in events:
            yield event
            if event.event_type == "response.completed":
                yield event


class CompletedIsNotLast(FaultyEvents):
    """Yields a delta after `response.completed`."""

    fails = ("STR-2",)
    says = "expected the position of the terminal event"

    def alter(self, events: Events) -> Events:
        yield from events
        yield StreamEvent("response.output_text.delta", delta="")


class CompletedAfterTheError(FaultyEvents):
    """Yields `response.completed` after `response.error`."""

    fails = ("STR-2", "ERR-7")
    says = "expected the number of terminal events 1; got 2"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        try:
            yield from ReferenceAdapters().parse_stream(chunks, call)
        except Exception as error:
            details = {"error_type": type(error).__name__, "message": str(error)}
            yield StreamEvent("response.error", error=details)
            half = Response(message="", provider=call.provider, model=call.model, finish_reason=None, usage=None)
            yield StreamEvent("response.completed", response=half)


# STR-3


class OwnEventType(FaultyEvents):
    """Yields a stream event of a type that the contract does not have."""

    fails = ("STR-3",)
    says = 'and is "response.started"'

    def alter(self, events: Events) -> Events:
        yield StreamEvent("response.started")  # type: ignore[arg-type]
        yield from events


# STR-4


class PiecesDecodedOneByOne(FaultyEvents):
    """Decodes each chunk of bytes by itself, which destroys a character that is cut."""

    fails = ("STR-4", "PRV-8")
    says = "expected the .* as for whole frames"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        return super().parse_stream((chunk.decode("utf-8", "replace").encode() for chunk in chunks), call)

    def alter(self, events: Events) -> Events:
        return events

    def touches(self, api: str) -> bool:
        return not api.startswith("bedrock:")  # whose streams are no text


def of_each_chunk(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        yield from (line for line in chunk.split(b"\n") if line.strip())


class LineLostBetweenTwoChunks(FaultyFraming):
    """Parses a line that is cut by two chunks as two lines."""

    fails = ("STR-4",)
    says = "malformed answer"
    unframe = MappingProxyType({_framing.lines: of_each_chunk})


# STR-5


class UnknownDroppedInSilence(FaultyEvents):
    """Drops blocks of an unknown type."""

    fails = ("STR-5", "RSN-3", "RSN-4")
    says = "expected an error, or a segment `other`"

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            if whole is not None:
                whole = replace(whole, segments=tuple(s for s in whole.segments if s.type != "other"))
            yield replace(event, response=whole)


class KnownPartsOnly(ChatDecoder):
    def _feed_part(self, part: Mapping[str, Any]) -> Events:
        yield from super()._feed_part(part) if part["type"] != "floor_plan" else ()


class PartsOfAnUnknownTypeDropped(FaultyDecoder):
    """Drops content parts of an unknown type."""

    apis = ("mistral:chat",)
    fails = ("STR-5",)
    says = "floor_plan"
    decoders = MappingProxyType({ChatDecoder: KnownPartsOnly})


# STR-6


class BrokenStreamIsASuccess(FaultyEvents):
    """Completes a stream that fails or breaks off."""

    fails = ("STR-6", "STR-9")
    says = 'got response.completed with finish_reason "stop"'

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        try:
            yield from ReferenceAdapters().parse_stream(chunks, call)
        except Exception:
            usage, model = None, call.model
            half = Response(message="", provider=call.provider, model=model, finish_reason="stop", usage=usage)
            yield StreamEvent("response.completed", response=half)


class WithoutError(ResponsesDecoder):
    def _feed_response(self, response: Mapping[str, Any]) -> None:
        super()._feed_response({**response, "error": None})


class FailedResponseTakenForAnEnd(FaultyDecoder):
    """Completes a stream whose last event reports a failed response."""

    fails = ("STR-6",)
    says = "expected RateLimitError"
    decoders = MappingProxyType({ResponsesDecoder: WithoutError})


class UnreadableFramesSkipped(Broken):
    """Skips frames that are not valid JSON."""

    fails = ("STR-6",)
    says = "expected ValidationError, raised or as response.error; got response.completed"
    complete = stream = parse = None  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.providers = ("deepseek:chat",)  # whose lines end in one way

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        return super().parse_stream(filter(self.is_readable, self.frames(chunks)), call)

    @staticmethod
    def frames(chunks: Iterable[bytes]) -> Iterator[bytes]:
        held = b""
        for chunk in chunks:
            *whole, held = (held + chunk).split(b"\n\n")
            yield from (frame + b"\n\n" for frame in whole)
        yield held

    @staticmethod
    def is_readable(frame: bytes) -> bool:
        if not frame.startswith(b"data: {") or frame.count(b"\n") > 2:
            return True
        try:
            return bool(json.loads(frame.removeprefix(b"data:")))
        except ValueError:
            return False


# STR-7


class BuffersTheWholeStream(FaultyEvents):
    """Yields no event before the end of the stream."""

    fails = ("STR-7",)
    says = "the adapter waited for the end of the stream"

    def alter(self, events: Events) -> Events:
        yield from list(events)


class ListParsedWhenItIsWhole(Broken):
    """Yields nothing from a streamed JSON array until it is whole."""

    fails = ("STR-7",)
    says = "waited for the end of the stream"
    complete = stream = parse = None  # type: ignore[assignment]

    def touches(self, api: str) -> bool:
        return api == "gemini:array"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        return super().parse_stream([b"".join(chunks)] if call.api == "array" else chunks, call)


# STR-8


class RefusalInTheTextOfStreamsOnly(Broken):
    """Adds a refusal to the message of a stream, and keeps it in a segment of its own otherwise."""

    apis = ("openai:chat",)
    fails = ("STR-8",)
    says = "expected the message as in json mode"
    complete = stream = None  # type: ignore[assignment]

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        for event in super().parse_stream(chunks, call):
            whole = event.response
            if whole is None:
                yield event
                continue
            refusal = "".join(each.content for each in whole.segments if each.metadata.get("kind") == "refusal")
            if refusal:
                yield StreamEvent("response.output_text.delta", delta=refusal)
            yield replace(event, response=replace(whole, message=whole.message + refusal))


class CallsEndStreamsByAnotherWord(FaultyEvents):
    """Ends a stream with tool calls by `tool_calls`, and a plain response with tool calls by `stop`."""

    apis = ("ollama:chat",)
    fails = ("STR-8",)
    says = "expected finish_reason as in json mode, .stop.; got .tool_calls."
    parse = Broken.parse  # type: ignore[assignment]

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            if whole is not None and whole.tool_calls:
                whole = replace(whole, finish_reason="tool_calls")
            yield replace(event, response=whole)


# STR-9


class ToolCallTakenForTheEnd(FaultyEvents):
    """Completes a stream that breaks off after a tool call."""

    fails = ("STR-9",)
    says = "expected .*; got response.completed"

    def alter(self, events: Events) -> Events:
        called = False
        try:
            for event in events:
                called = called or event.tool_call is not None
                yield event
        except ServiceUnavailableError:
            if not called:
                raise
            answer = Response(message="", provider="anthropic", model="a model", finish_reason="tool_calls", usage=None)
            yield StreamEvent("response.completed", response=answer)
