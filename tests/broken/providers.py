"""Broken adapters that get wrong what one provider does of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from adapters._chat import ChatDecoder
from adapters._responses import ResponsesDecoder
from adapters.cloudflare_run import RunDecoder
from adapters.cohere import CohereDecoder
from adapters.gemini import GenerateDecoder
from adapters.gemini_interactions import InteractionsDecoder
from llm_conformance.contract import Annotation, Call, Response, ToolCall
from tests.broken.kinds import Broken, Events, Misunderstood, Plain, less

# Gemini


class BytesTakenForCodePoints(GenerateDecoder):
    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        placed = super()._placed(citation)
        text = self._answer.message
        start, end = (None if at is None else len(text[:at].encode()) for at in (placed.start, placed.end))
        return replace(placed, start=start, end=end)


class GroundingOffsetsNotConverted(Misunderstood):
    fails = ("ANN-5", "ANN-1", "ANN-2")
    says = "these are UTF-8 bytes"
    decoders = MappingProxyType({GenerateDecoder: BytesTakenForCodePoints})


class Clamping(GenerateDecoder):
    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        placed = super()._placed(citation)
        text, segment = self._answer.message.encode("utf-8"), citation.get("segment", {})
        if placed.start is not None or "startIndex" not in segment:
            return placed
        start, end = (len(text[:at].decode("utf-8", "ignore")) for at in (segment["startIndex"], segment["endIndex"]))
        return replace(placed, start=start, end=end)


class SpansClampedIntoTheText(Misunderstood):
    fails = ("ANN-1",)
    says = "expected neither start nor end"
    decoders = MappingProxyType({GenerateDecoder: Clamping})


class GroundingChunksLeftBehind(Plain):
    fails = ("ANN-3",)
    says = "data.groundingChunks"

    def alter(self, response: Response, call: Call) -> Response:
        kept = [
            replace(each, data={key: value for key, value in each.data.items() if key != "groundingChunks"})
            for each in response.annotations
        ]
        return replace(response, annotations=tuple(kept))


class ToolUsePromptLost(Plain):
    fails = ("USE-1", "USE-3")
    says = "expected total_tokens = "

    def alter(self, response: Response, call: Call) -> Response:
        read = response.usage.raw.get("toolUsePromptTokenCount", 0) if response.usage else 0
        return replace(response, usage=response.usage and less(response.usage, "prompt_tokens", read))


class ThoughtsLeftOutOfTheCompletion(Plain):
    fails = ("USE-1", "USE-2", "USE-3")
    says = "expected total_tokens = "

    def alter(self, response: Response, call: Call) -> Response:
        thought = response.usage.raw.get("thoughtsTokenCount", 0) if response.usage else 0
        return replace(response, usage=response.usage and less(response.usage, "completion_tokens", thought))


class Thoughtless(GenerateDecoder):
    def _feed_part(self, part: Mapping[str, Any], goes_on: bool) -> Events:
        return super()._feed_part({key: value for key, value in part.items() if key != "thought"}, goes_on)


class ThoughtsTakenForText(Misunderstood):
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3", "RSN-4", "ANN-2", "ANN-5", "ATT-1")
    says = "which is reasoning"
    decoders = MappingProxyType({GenerateDecoder: Thoughtless})


class StoppingAtTheFirstUsage(GenerateDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        before = dict(self._answer.raw_usage)
        yield from super().feed(document)
        self._answer.raw_usage = before or self._answer.raw_usage


class FirstUsageOfAStreamKept(Misunderstood):
    fails = ("USE-5", "USE-3")
    says = "expected completion_tokens"
    decoders = MappingProxyType({GenerateDecoder: StoppingAtTheFirstUsage})


class Stuttering(GenerateDecoder):
    def _feed_speech(self, type: str, data: str) -> Events:
        return self._feed_media(type, data, {})


class EachPieceOfSpeechAnAttachment(Misunderstood):
    fails = ("ATT-1",)
    says = "expected the number of attachments 1; got 3"
    decoders = MappingProxyType({GenerateDecoder: Stuttering})


# Cohere


class PlanAsText(CohereDecoder):
    def _feed_plan(self, plan: str | None) -> Events:
        yield from self._answer.text(plan or "")


class ToolPlanTakenForTheAnswer(Misunderstood):
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3")
    says = "which is reasoning"
    decoders = MappingProxyType({CohereDecoder: PlanAsText})


class Baseless(CohereDecoder):
    def _feed_citation(self, citation: Mapping[str, Any]) -> Events:
        self._starts = {}
        return super()._feed_citation(citation)


class ContentIndexIgnored(Misunderstood):
    fails = ("ANN-2",)
    says = "expected .*2 mm outside the line"
    decoders = MappingProxyType({CohereDecoder: Baseless})


class TraceOffsetsTaken(CohereDecoder):
    def _feed_citation(self, citation: Mapping[str, Any]) -> Events:
        if citation.get("type") != "THINKING_CONTENT":
            return super()._feed_citation(citation)
        return self._answer.annotate(Annotation(citation["start"], citation["end"], citation))


class CitationOfTheThinkingPlaced(Misunderstood):
    fails = ("ANN-1",)
    says = "expected neither start nor end"
    decoders = MappingProxyType({CohereDecoder: TraceOffsetsTaken})


class BilledTaken(Plain):
    fails = ("USE-3", "USE-2")
    says = "expected prompt_tokens"

    def alter(self, response: Response, call: Call) -> Response:
        billed = response.usage.raw.get("billed_units") if response.usage else None
        if response.usage is None or billed is None:
            return response
        asked, answered = billed.get("input_tokens"), billed.get("output_tokens")
        total = None if asked is None or answered is None else asked + answered
        counts = {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": total}
        return replace(response, usage=replace(response.usage, **counts))


# OpenAI-shaped chat


class Indexed(ChatDecoder):
    def _key(self, index: object, id: str | int | None) -> object:
        return index


class CallsOfOneIndexTakenForOne(Misunderstood):
    fails = ("TOOL-1", "RSN-3")
    says = "expected the names of the tool calls"
    decoders = MappingProxyType({ChatDecoder: Indexed})


# OpenAI responses


class Partless(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Events:
        yield from super()._feed_text(key, piece)
        self._starts[key] = 0


class OffsetsOfThePartTakenForTheWhole(Misunderstood):
    fails = ("ANN-2",)
    says = "expected .*pegel.example"
    decoders = MappingProxyType({ResponsesDecoder: Partless})


class Counting(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Events:
        return super()._feed_text((key[0], 0), piece)

    def _placed(self, key: tuple[int, int], annotation: Mapping[str, Any]) -> Annotation:
        return super()._placed((key[0], 0), annotation)


class PartsOfAMessageTakenForOne(Misunderstood):
    fails = ("ANN-2", "RSN-3")
    says = "expected .*imkerei.example"
    decoders = MappingProxyType({ResponsesDecoder: Counting})


class Forgiving(ResponsesDecoder):
    def _feed_response(self, response: Mapping[str, Any]) -> None:
        super()._feed_response({**response, "error": None})


class FailedResponseTakenForAnEnd(Misunderstood):
    fails = ("STR-6", "ERR-1")
    says = "expected RateLimitError"
    decoders = MappingProxyType({ResponsesDecoder: Forgiving})


class Hasty(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        if kind == "response.output_item.added" and event["item"].get("encrypted_content"):
            self._early = event["item"]["encrypted_content"]
        yield from super()._feed_event(kind, event)

    def _seal(self, index: int, encrypted: str | None) -> None:
        super()._seal(index, encrypted and getattr(self, "_early", encrypted))


class EncryptedContentOfTheAddedItem(Misunderstood):
    fails = ("RSN-4",)
    says = "expected opaque data"
    decoders = MappingProxyType({ResponsesDecoder: Hasty})


class Separating(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        if kind == "response.reasoning_summary_part.added" and event["summary_index"]:
            event = {**event, "type": "response.reasoning_summary_text.delta", "delta": "\n\n"}
        yield from super()._feed_event(event["type"], event)


class SummaryPartsPutApart(Misunderstood):
    fails = ("RSN-2", "RSN-3")
    says = "they differ at code point"
    decoders = MappingProxyType({ResponsesDecoder: Separating})


class Repeating(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        yield from super()._feed_event(kind, event)
        if kind == "response.completed":
            for number, item in enumerate(event["response"]["output"]):
                if item["type"] == "message":
                    yield from self._feed_item(number, item)


class OutputOfTheLastEventAddedAgain(Misunderstood):
    fails = ("MSG-2", "RSN-3", "ANN-4")
    says = "expected the message of"
    decoders = MappingProxyType({ResponsesDecoder: Repeating})


class IncompleteIsAStop(Plain):
    fails = ("FIN-1",)
    says = "expected finish_reason .length"

    def alter(self, response: Response, call: Call) -> Response:
        cut_off = response.raw_finish_reason in ("max_output_tokens", "content_filter") and call.api == "responses"
        return replace(response, finish_reason="stop") if cut_off else response


class RefusalTakenForAnAnswer(Plain):
    fails = ("FIN-1",)
    says = "expected finish_reason .content_filter"

    def alter(self, response: Response, call: Call) -> Response:
        refused = any(each.metadata.get("kind") == "refusal" for each in response.segments)
        return replace(response, finish_reason="stop") if refused else response


# Groq, Cloudflare, and what providers do not say


class HostedToolsHandedToTheClient(Plain):
    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"

    def alter(self, response: Response, call: Call) -> Response:
        hosted = [
            ToolCall(f"hosted-{number}", str(each.metadata.get("name")), each.content or "{}")
            for number, each in enumerate(response.segments)
            if each.metadata.get("server_executed")
        ]
        return replace(response, tool_calls=(*response.tool_calls, *hosted))


class Deaf(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        kept = {key: value for key, value in (document.get("x_groq") or {}).items() if key != "usage"}
        return super()._feed_completion({**document, "x_groq": kept})


class UsageInTheExtensionLost(Misunderstood):
    fails = ("USE-5", "USE-1", "USE-2", "USE-3")
    says = "a chunk that only carries usage was lost"
    decoders = MappingProxyType({ChatDecoder: Deaf})


class ObjectShownAsPython(Plain):
    fails = ("MSG-2",)
    says = "expected the JSON of the message"

    def alter(self, response: Response, call: Call) -> Response:
        content = response.raw_events[0].get("choices", [{}])[0].get("message", {}).get("content")
        return replace(response, message=str(content)) if isinstance(content, Mapping) else response


class Trusting(RunDecoder):
    def __init__(self, call: Call) -> None:
        super().__init__(replace(call, think_profile="off"))


class ThinkTagsOfTheNativeApiLeft(Misunderstood):
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3")
    says = "<think>"
    decoders = MappingProxyType({RunDecoder: Trusting})


class TimeMadeUp(Plain):
    fails = ("PRV-1",)
    says = "expected created null"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, created=response.created or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


class TrueSentAsOne(Plain):
    fails = ("MSG-2",)
    says = "expected the JSON of the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message.replace(": true", ": 1"))


class StartOnly(InteractionsDecoder):
    def _feed_delta(self, index: int, delta: Mapping[str, Any]) -> Events:
        return iter(()) if delta["type"] == "arguments_delta" else super()._feed_delta(index, delta)


class ArgumentsTakenFromTheStartOfTheStep(Misunderstood):
    fails = ("TOOL-1",)
    says = "got {}"
    decoders = MappingProxyType({InteractionsDecoder: StartOnly})


class BytesOfAStepTakenForCodePoints(InteractionsDecoder):
    def _placed(self, key: object, citation: Mapping[str, Any]) -> Annotation:
        return replace(super()._placed(key, citation), start=citation["start_index"], end=citation["end_index"])


class AnnotationsOfStepsNotConverted(Misunderstood):
    fails = ("ANN-2", "ANN-1", "ANN-5")
    says = "these are UTF-8 bytes"
    decoders = MappingProxyType({InteractionsDecoder: BytesOfAStepTakenForCodePoints})


class Unsigned(InteractionsDecoder):
    def _sign(self, index: object, signature: str | None) -> None:
        """Take no signature."""


class SignaturesOfStepsLost(Misunderstood):
    fails = ("RSN-4", "RSN-3")
    says = "expected opaque data"
    decoders = MappingProxyType({InteractionsDecoder: Unsigned})


class ListParsedWhenItIsWhole(Broken):
    fails = ("STR-7",)
    says = "waited for the end of the stream"
    complete = stream = parse = None  # type: ignore[assignment]

    def touches(self, api: str) -> bool:
        return api == "gemini:array"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        return super().parse_stream([b"".join(chunks)] if call.api == "array" else chunks, call)
