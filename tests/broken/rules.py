"""Broken adapters that show each rule biting: one fault each, named by it."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters import ReferenceAdapters
from adapters._chat import ChatDecoder
from adapters.anthropic import MessagesDecoder
from llm_conformance.contract import Annotation, Call, Response, Segment, StreamEvent, Usage
from llm_conformance.providers import COUNTS
from tests.broken.kinds import Events, Misunderstood, Plain, Streamed


def span(annotation: Annotation) -> tuple[int, int] | None:
    """Return an annotation's span, None if it has none."""
    return None if annotation.start is None or annotation.end is None else (annotation.start, annotation.end)


# SHP


class CostAsText(Plain):
    fails = ("SHP-1",)
    says = "'0.0' is not of type 'number'"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, cost_usd="0.0")  # type: ignore[arg-type]


class NullForNoMessage(Plain):
    fails = ("SHP-1", "MSG-1", "MSG-2", "RSN-3", "ANN-1", "ATT-1")
    says = "None is not of type 'string'"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or None)  # type: ignore[arg-type]


class RawFinishReason(Plain):
    fails = ("SHP-1", "FIN-1")
    says = "is not one of"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason=response.raw_finish_reason)  # type: ignore[arg-type]


# MSG


class ReasoningFallsBackIntoEmptyMessage(Plain):
    fails = ("MSG-1", "MSG-2", "RSN-3")
    says = "the message also holds"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or response.reasoning or "")


class UnclosedThinkLeft(Plain):
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3")
    says = "<think>"

    def alter(self, response: Response, call: Call) -> Response:
        if response.message or not any(segment.metadata.get("source") == "tag" for segment in response.segments):
            return response
        return replace(response, message=f"<think>{response.reasoning}", reasoning=None)


class TrimmedMessage(Plain):
    fails = ("MSG-2", "RSN-3", "ANN-2", "ATT-1")
    says = "they differ|expected the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message.strip())


class FirstTextBlockOnly(Plain):
    fails = ("MSG-2", "RSN-3", "ANN-1", "ANN-2", "ANN-5")
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        texts = [segment.content for segment in response.segments if segment.type == "text"]
        return replace(response, message=texts[0] if texts else "")


class EnvelopeForNoContent(Plain):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or str({"id": response.id}))


class LiteralTagsDeleted(Plain):
    fails = ("MSG-3", "MSG-2", "RSN-3")
    says = "times '<think' in the message; got 0 times"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=re.sub("</?think>", "", response.message))


# RSN


class ReasoningDropped(Plain):
    fails = ("RSN-1", "RSN-3")
    says = "expected the reasoning .*; got null"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=None)


class ReasoningDoubled(Plain):
    fails = ("RSN-1", "RSN-2", "RSN-3")
    says = "expected the reasoning of"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=response.reasoning and response.reasoning * 2)


class ReasoningTrimmed(Plain):
    fails = ("RSN-2", "RSN-3")
    says = "they differ at code point"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, reasoning=response.reasoning and response.reasoning.strip())


class TextBeforeReasoning(Plain):
    fails = ("RSN-3", "RSN-4")
    says = "expected segments"

    def alter(self, response: Response, call: Call) -> Response:
        order = {"text": 0, "reasoning": 1}
        return replace(response, segments=tuple(sorted(response.segments, key=lambda s: order.get(s.type, 2))))


class RedactedBlockDropped(Plain):
    fails = ("RSN-4", "RSN-3")
    says = "opaque data"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, segments=tuple(s for s in response.segments if "redacted" not in s.metadata))


class SignatureDropped(Plain):
    fails = ("RSN-4", "RSN-3")
    says = "opaque data .*signature"

    def alter(self, response: Response, call: Call) -> Response:
        bare = [
            replace(segment, metadata={key: value for key, value in segment.metadata.items() if key != "signature"})
            for segment in response.segments
        ]
        return replace(response, segments=tuple(bare))


class SignaturesJoined(Plain):
    fails = ("RSN-4",)
    says = "opaque data .*signature"

    def alter(self, response: Response, call: Call) -> Response:
        joined = ""
        segments: list[Segment] = []
        for segment in response.segments:
            joined += segment.metadata.get("signature", "")
            signed = {**segment.metadata, "signature": joined} if "signature" in segment.metadata else segment.metadata
            segments.append(replace(segment, metadata=signed))
        return replace(response, segments=tuple(segments))


# ANN


class Moved(Plain):
    """Moves the spans of annotations."""

    def alter(self, response: Response, call: Call) -> Response:
        moved = []
        for annotation in response.annotations:
            found = span(annotation)
            start, end = self.move(response.message, annotation, *found) if found else (None, None)
            moved.append(replace(annotation, start=start, end=end))
        return replace(response, annotations=tuple(moved))

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        raise NotImplementedError


class SpanOutsideTheMessage(Plain):
    fails = ("ANN-1",)
    says = "expected 0 <= start <= end <= "

    def alter(self, response: Response, call: Call) -> Response:
        passed_on = [
            replace(annotation, start=764, end=985) if annotation.start is None else annotation
            for annotation in response.annotations
        ]
        return replace(response, annotations=tuple(passed_on))


class InclusiveEnd(Moved):
    fails = ("ANN-2", "ANN-5")
    says = "the end is the last code point, not one behind it"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return start, max(start, end - 1)


class Utf16Offsets(Moved):
    fails = ("ANN-2", "ANN-1", "ANN-5")
    says = "these are UTF-16 code units"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return len(message[:start].encode("utf-16-le")) // 2, len(message[:end].encode("utf-16-le")) // 2


class ByteOffsets(Moved):
    fails = ("ANN-2", "ANN-1", "ANN-5")
    says = "these are UTF-8 bytes"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return len(message[:start].encode()), len(message[:end].encode())


class OffsetsCountedPerBlock(Moved):
    fails = ("ANN-2", "ANN-5")
    says = "these are counted from the beginning of the block"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return 0, end - start


class SpanSearchedForByItsText(Moved):
    fails = ("ANN-2",)
    says = "expected .* at "

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        first = message.index(message[start:end])
        return first, first + end - start


class DocumentOffsetsTakenForMessageOffsets(Moved):
    fails = ("ANN-3", "ANN-2", "ANN-1")
    says = "the offsets into the document"

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        data = annotation.data
        return data.get("start_char_index", start), data.get("end_char_index", end)


class CitationOnThePreviousBlock(Moved):
    fails = ("ANN-2",)
    says = "expected .* at "

    def move(self, message: str, annotation: Annotation, start: int, end: int) -> tuple[int, int]:
        return (max(0, start - 5), start) if "cited_text" in annotation.data else (start, end)


class SourceTitleDropped(Plain):
    fails = ("ANN-3",)
    says = "expected data.(document_)?title"

    def alter(self, response: Response, call: Call) -> Response:
        bare = [
            replace(annotation, data={k: v for k, v in annotation.data.items() if k not in ("document_title", "title")})
            for annotation in response.annotations
        ]
        return replace(response, annotations=tuple(bare))


class LastAnnotationLost(Plain):
    fails = ("ANN-4",)
    says = "expected the number of annotations"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, annotations=response.annotations[:-1])


class AnnotationsRepeated(Plain):
    fails = ("ANN-4",)
    says = "expected the number of annotations"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, annotations=response.annotations * 2)


class NotRebasedBehindThinkPrefix(Plain):
    fails = ("ANN-5", "ANN-2", "ANN-1")
    says = "expected .* at "

    def alter(self, response: Response, call: Call) -> Response:
        if call.think_profile == "off" or not response.annotations:
            return response
        wire = response.raw_events[0]["choices"][0]["message"].get("annotations") or ()
        spans = [(found["url_citation"]["start_index"], found["url_citation"]["end_index"]) for found in wire]
        moved = [
            replace(annotation, start=start, end=end)
            for annotation, (start, end) in zip(response.annotations, spans, strict=True)
        ]
        return replace(response, annotations=tuple(moved))


# USE


class Counted(Plain):
    """Puts the fault in the usage."""

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, usage=response.usage and self.count(response.usage))

    def count(self, usage: Usage) -> Usage | None:
        raise NotImplementedError


class TotalWithoutCache(Counted):
    fails = ("USE-1", "USE-3")
    says = "expected total_tokens = "

    def count(self, usage: Usage) -> Usage:
        cache = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
        return replace(usage, total_tokens=usage.total_tokens and usage.total_tokens - cache)


class ReasoningBesideTheCompletion(Counted):
    fails = ("USE-2", "USE-3")
    says = "expected reasoning_tokens <= completion_tokens"

    def count(self, usage: Usage) -> Usage:
        visible = (usage.completion_tokens or 0) - (usage.reasoning_tokens or 0)
        return replace(usage, completion_tokens=visible, total_tokens=(usage.prompt_tokens or 0) + visible)


class CacheLeftOutOfPrompt(Counted):
    fails = ("USE-3", "USE-2")
    says = "expected prompt_tokens"

    def count(self, usage: Usage) -> Usage:
        prompt = usage.raw.get("input_tokens", usage.prompt_tokens)
        return replace(usage, prompt_tokens=prompt, total_tokens=(prompt or 0) + (usage.completion_tokens or 0))


class NoneAsZero(Counted):
    fails = ("USE-4",)
    says = "null; got 0"

    def count(self, usage: Usage) -> Usage:
        return Usage(**{count: getattr(usage, count) or 0 for count in COUNTS}, raw=usage.raw)


class Summing(MessagesDecoder):
    def _feed_usage(self, usage: Mapping[str, Any] | None) -> None:
        kept = self._answer.raw_usage
        for key, value in (usage or {}).items():
            kept[key] = value + kept.get(key, 0) if isinstance(value, int) else value


class UsageSummed(Misunderstood):
    fails = ("USE-5", "USE-3")
    says = "expected (prompt|completion)_tokens"
    decoders = MappingProxyType({MessagesDecoder: Summing})


class Overwriting(MessagesDecoder):
    def _feed_usage(self, usage: Mapping[str, Any] | None) -> None:
        self._answer.raw_usage = dict(usage or {})


class UsageOverwrittenByTheLastEvent(Misunderstood):
    fails = ("USE-5", "USE-3")
    says = "expected prompt_tokens"
    decoders = MappingProxyType({MessagesDecoder: Overwriting})


# STR


class ExtraSpaceInStreams(Streamed):
    fails = ("STR-1",)
    says = "expected the joined text deltas"

    def alter(self, events: Events) -> Events:
        for event in events:
            is_text = event.event_type == "response.output_text.delta"
            yield replace(event, delta=f"{event.delta} ") if is_text else event


class HalfDeaf(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        return super()._feed_message({**message, "content": None} if message.get("reasoning_content") else message)


class DeltaWithBothFieldsLosesOne(Misunderstood):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message of"
    decoders = MappingProxyType({ChatDecoder: HalfDeaf})


class ToolDeltaIdDiffers(Streamed):
    fails = ("STR-1",)
    says = "expected the folded tool calls.*a tool call is what events response.function_call_arguments.delta add up to"

    def alter(self, events: Events) -> Events:
        for event in events:
            yield replace(event, tool_call=event.tool_call and replace(event.tool_call, id="item_1"))


class LastDeltaLost(Streamed):
    """Gives each delta when the next one is there, and forgets the last."""

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


class PiecesDecodedOneByOne(Streamed):
    fails = ("STR-4",)
    says = "expected the .* as frame by frame"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        return super().parse_stream((chunk.decode("utf-8", "replace").encode() for chunk in chunks), call)

    def alter(self, events: Events) -> Events:
        return events


class CompletedMissing(Streamed):
    fails = (
        *("STR-2", "STR-1", "STR-5", "SHP-1", "MSG-1", "MSG-2", "MSG-3", "RSN-1", "RSN-2", "RSN-3", "RSN-4"),
        *("ANN-1", "ANN-2", "ANN-3", "ANN-4", "ANN-5", "USE-1", "USE-2", "USE-3", "USE-4", "USE-5"),
        *("ATT-1", "TOOL-1", "FIN-1", "PRV-1", "PRV-2"),
    )
    says = "expected the number of terminal events 1; got 0"

    def alter(self, events: Events) -> Events:
        return (event for event in events if event.event_type != "response.completed")


class CompletedTwice(Streamed):
    fails = ("STR-2",)
    says = "expected the number of terminal events 1; got 2"

    def alter(self, events: Events) -> Events:
        for event in events:
            yield event
            if event.event_type == "response.completed":
                yield event


class CompletedIsNotLast(Streamed):
    fails = ("STR-2",)
    says = "expected the position of the terminal event"

    def alter(self, events: Events) -> Events:
        yield from events
        yield StreamEvent("response.output_text.delta", delta="")


class OwnEventType(Streamed):
    fails = ("STR-3",)
    says = "'response.started' is not one of"

    def alter(self, events: Events) -> Events:
        yield StreamEvent("response.started")  # type: ignore[arg-type]
        yield from events


class UnknownDroppedInSilence(Streamed):
    fails = ("STR-5", "RSN-3", "RSN-4")
    says = "expected an error, or a segment `other`"

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            if whole is not None:
                whole = replace(whole, segments=tuple(s for s in whole.segments if s.type != "other"))
            yield replace(event, response=whole)


class BrokenStreamIsASuccess(Streamed):
    fails = ("STR-6", "ERR-1", "ERR-2")
    says = 'got response.completed with finish_reason "stop"'

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        try:
            yield from ReferenceAdapters().parse_stream(chunks, call)
        except Exception:
            usage, model = None, call.model
            half = Response(message="", provider=call.provider, model=model, finish_reason="stop", usage=usage)
            yield StreamEvent("response.completed", response=half)


class CompletedAfterTheError(Streamed):
    fails = ("STR-6", "STR-2", "ERR-4")
    says = "got response.completed"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        try:
            yield from ReferenceAdapters().parse_stream(chunks, call)
        except Exception as error:
            said = {"error_type": type(error).__name__, "message": str(error)}
            yield StreamEvent("response.error", error=said)
            half = Response(message="", provider=call.provider, model=call.model, finish_reason=None, usage=None)
            yield StreamEvent("response.completed", response=half)


class BuffersTheWholeStream(Streamed):
    fails = ("STR-7",)
    says = "the adapter waited for the end of the stream"

    def alter(self, events: Events) -> Events:
        yield from list(events)


# ATT, TOOL, FIN, PRV


class AudioTranscriptDropped(Plain):
    fails = ("ATT-1",)
    says = "expected transcript"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, attachments=tuple(replace(a, transcript=None) for a in response.attachments))


class AudioLostInStreams(Streamed):
    fails = ("ATT-1", "STR-7")
    says = "expected the number of attachments 1; got 0"

    def alter(self, events: Events) -> Events:
        for event in events:
            if event.event_type != "response.media":
                yield replace(event, response=event.response and replace(event.response, attachments=()))


class ToolCallWithoutArgumentsLost(Plain):
    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, tool_calls=tuple(c for c in response.tool_calls if c.arguments != "{}"))


class UnknownFinishIsStop(Plain):
    fails = ("FIN-1",)
    says = 'expected finish_reason null; got "stop"'

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason=response.finish_reason or "stop")


class ModelOfTheCall(Plain):
    fails = ("PRV-1",)
    says = "expected model"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, model=call.model)


class ForeignObjectInACorner(Plain):
    fails = ("PRV-2",)
    says = "to be JSON-serialisable"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, extras={"sdk": {"client": object()}})


class MessagesMutated(Plain):
    fails = ("PRV-3",)
    says = "changed: messages"

    def alter(self, response: Response, call: Call) -> Response:
        call.messages[0]["content"] = "something else"
        return response


class DialsOut(Plain):
    fails = ("PRV-3",)
    says = r"it tried 192\.0\.2\.7:443, from .*rules\.py"

    def alter(self, response: Response, call: Call) -> Response:
        with contextlib.suppress(OSError):
            socket.create_connection(("192.0.2.7", 443), timeout=1)
        return response


class Stringly(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        return super()._feed_content(str(content) if self._answer.call.provider == "deepseek" else content)


class NoneTextForNullDeltas(Misunderstood):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message .*None"
    decoders = MappingProxyType({ChatDecoder: Stringly})


class Crumbling(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        for event in super()._feed_content(content):
            self._answer.blocks[-1].key = object()
            yield event


class SegmentForEachDelta(Misunderstood):
    fails = ("RSN-3",)
    says = "expected segments"
    decoders = MappingProxyType({ChatDecoder: Crumbling})
