"""Broken adapters that get wrong what one provider does of its own."""

from __future__ import annotations

import json
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
from llm_conformance.contract import Annotation, Attachment, Call, Response, ToolCall, Usage
from tests.broken.kinds import Broken, Events, Misunderstood, Plain, Streamed

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
        return replace(response, usage=response.usage and _less(response.usage, "prompt_tokens", read))


class ThoughtsLeftOutOfTheCompletion(Plain):
    fails = ("USE-1", "USE-2", "USE-3")
    says = "expected total_tokens = "

    def alter(self, response: Response, call: Call) -> Response:
        thought = response.usage.raw.get("thoughtsTokenCount", 0) if response.usage else 0
        return replace(response, usage=response.usage and _less(response.usage, "completion_tokens", thought))


def _less(usage: Usage, count: str, tokens: int) -> Usage:
    whole = getattr(usage, count)
    changed: dict[str, Any] = {} if whole is None else {count: whole - tokens}
    return replace(usage, **changed)


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


class Plaintext(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        yield from () if isinstance(content, list) else super()._feed_content(content)


class ContentThatIsAListLost(Misunderstood):
    apis = ("mistral:chat",)
    fails = ("MSG-2", "RSN-1", "RSN-3", "ANN-4", "STR-5", "STR-7")
    says = "expected the message"
    decoders = MappingProxyType({ChatDecoder: Plaintext})


class Outspoken(ChatDecoder):
    def _feed_part(self, part: Mapping[str, Any]) -> Events:
        for each in part.get("thinking", (part,)):
            yield from super()._feed_part(each)


class PartsOfThinkingTakenForText(Misunderstood):
    apis = ("mistral:chat",)
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3")
    says = "which is reasoning"
    decoders = MappingProxyType({ChatDecoder: Outspoken})


class Curt(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        return super()._feed_content(content[:1] if isinstance(content, list) else content)


class FirstPartOfTheContentOnly(Misunderstood):
    apis = ("mistral:chat",)
    fails = ("MSG-2", "RSN-1", "RSN-2", "RSN-3", "ANN-4")
    says = "expected the message"
    decoders = MappingProxyType({ChatDecoder: Curt})


class Picky(ChatDecoder):
    def _feed_part(self, part: Mapping[str, Any]) -> Events:
        yield from super()._feed_part(part) if part["type"] != "floor_plan" else ()


class PartsOfAnUnknownTypeDropped(Misunderstood):
    apis = ("mistral:chat",)
    fails = ("STR-5", "RSN-3")
    says = "floor_plan"
    decoders = MappingProxyType({ChatDecoder: Picky})


class AudioLeftOutOfThePrompt(Plain):
    apis = ("mistral:chat",)
    fails = ("USE-1", "USE-2", "USE-3")
    says = "expected total_tokens = "

    def alter(self, response: Response, call: Call) -> Response:
        heard = response.usage.audio_prompt_tokens if response.usage and call.provider == "mistral" else None
        return replace(response, usage=response.usage and _less(response.usage, "prompt_tokens", heard or 0))


class TakingEmptyIds(ChatDecoder):
    def _feed_call(self, key: object, id: str | int | None, function: Mapping[str, Any]) -> Events:
        yield from super()._feed_call(key, id, function)
        if id == "":
            self._answer.tools[key].id = None


class EmptyIdTakenForTheId(Misunderstood):
    apis = ("alibaba:chat",)
    fails = ("TOOL-1", "STR-1")
    says = "expected .*call_"
    decoders = MappingProxyType({ChatDecoder: TakingEmptyIds})


class CountingOutside(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        kept = [{**each, "usage": None} for each in document.get("choices") or ()]
        return super()._feed_completion({**document, "choices": kept} if kept else document)


class UsageInTheChoiceLost(Misunderstood):
    apis = ("moonshot:chat",)
    fails = ("USE-5", "USE-1", "USE-2", "USE-3")
    says = "a chunk that only carries usage was lost"
    decoders = MappingProxyType({ChatDecoder: CountingOutside})


class Stopping(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        yield from super()._feed_completion(document)
        for choice in document.get("choices") or ():
            stopped_at = choice.get("stop_reason")
            self._answer.raw_finish = self._answer.raw_finish if stopped_at is None else str(stopped_at)


class StopReasonTakenForTheFinishWord(Misunderstood):
    apis = ("crusoe:chat",)
    fails = ("FIN-1",)
    says = "expected (raw_)?finish_reason"
    decoders = MappingProxyType({ChatDecoder: Stopping})


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


# Azure, Databricks, Snowflake, Copilot, Codex


class Expecting(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        for choice in document.get("choices") or ():
            if "message" not in choice and "delta" not in choice:
                raise KeyError("message")
        return super()._feed_completion(document)


class ChoiceOfTheFilterTakenForMalformed(Misunderstood):
    apis = ("azure:chat",)
    fails = (
        *("MSG-2", "RSN-1", "RSN-3", "ANN-4", "TOOL-1", "FIN-1", "ERR-4", "SHP-1", "PRV-1", "PRV-2", "PRV-3"),
        *("STR-1", "STR-2", "STR-3", "STR-7", "USE-1", "USE-3", "USE-4", "USE-5"),
    )
    says = "malformed answer"
    decoders = MappingProxyType({ChatDecoder: Expecting})


class Forgetful(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        yield from super()._feed_completion(document)
        for choice in document.get("choices") or ():
            if "content_filter_offsets" in choice:
                self._answer.raw_finish = choice["finish_reason"]


class FinishTakenBackByTheFilter(Misunderstood):
    apis = ("azure:chat",)
    fails = ("FIN-1",)
    says = "expected finish_reason"
    decoders = MappingProxyType({ChatDecoder: Forgetful})


class SecondChoiceTakenForAnotherAnswer(Plain):
    apis = ("copilot:chat",)
    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"

    def alter(self, response: Response, call: Call) -> Response:
        choices = response.raw_events[0].get("choices") or ()
        apart = len(choices) > 1 and not any("index" in choice for choice in choices)
        return replace(response, tool_calls=()) if apart else response


class EmptyAudioTakenForAudio(Plain):
    apis = ("snowflake:chat",)
    fails = ("ATT-1",)
    says = "expected the number of attachments 0; got 1"

    def alter(self, response: Response, call: Call) -> Response:
        message = (response.raw_events[0].get("choices") or [{}])[0].get("message") or {}
        silent = isinstance(message.get("audio"), Mapping) and not any(message["audio"].values())
        return replace(response, attachments=(Attachment(data="", transcript=""),)) if silent else response


class EmptyCallTakenForACall(Plain):
    apis = ("snowflake:chat",)
    fails = ("SHP-1", "TOOL-1")
    says = "should be non-empty"

    def alter(self, response: Response, call: Call) -> Response:
        message = (response.raw_events[0].get("choices") or [{}])[0].get("message") or {}
        nameless = isinstance(message.get("function_call"), Mapping) and not message["function_call"].get("name")
        return replace(response, tool_calls=(*response.tool_calls, ToolCall(None, "", "{}"))) if nameless else response


class Superficial(ChatDecoder):
    def _feed_reasoning(self, reasoning: str, details: Any = ()) -> Events:
        return super()._feed_reasoning(reasoning)


class DetailsOfTheReasoningLeftOut(Misunderstood):
    apis = ("databricks:chat", "snowflake:chat")
    fails = ("RSN-1", "RSN-3", "RSN-4")
    says = "reasoning"
    decoders = MappingProxyType({ChatDecoder: Superficial})


class Unsealing(ChatDecoder):
    def _seal(self, name: str, value: str | None) -> None:
        """Lose it."""


class SealedReasoningLost(Misunderstood):
    apis = ("copilot:chat",)
    fails = ("RSN-4",)
    says = "expected opaque data"
    decoders = MappingProxyType({ChatDecoder: Unsealing})


class Literal(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        return super()._feed_content(json.dumps(content) if isinstance(content, list) else content)


class PartsOfTheContentShownAsJson(Misunderstood):
    apis = ("databricks:chat",)
    fails = ("MSG-1", "MSG-2", "RSN-1", "RSN-3", "RSN-4")
    says = "which is reasoning"
    decoders = MappingProxyType({ChatDecoder: Literal})


class CacheAddedToThePrompt(Plain):
    apis = ("databricks:chat",)
    fails = ("USE-3", "USE-1")
    says = "expected prompt_tokens"

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage
        if call.provider != "databricks" or usage is None or usage.prompt_tokens is None:
            return response
        beside = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
        return replace(response, usage=replace(usage, prompt_tokens=usage.prompt_tokens + beside))


class TextOfTheLastEventTaken(Streamed):
    apis = ("codex:responses",)
    fails = ("MSG-2", "RSN-3", "STR-1")
    says = "expected the message of"

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            last = whole.raw_events[-1] if whole and whole.raw_events else {}
            if whole and last.get("type") == "response.completed":
                event = replace(event, response=replace(whole, message=_text_of(last["response"]["output"])))
            yield event


def _text_of(items: Iterable[Mapping[str, Any]]) -> str:
    parts = [part for item in items if item["type"] == "message" for part in item["content"]]
    return "".join(part.get("text") or "" for part in parts)
