"""Broken adapters that get wrong what one dialect of chat does: Mistral, Moonshot, Azure, Databricks, and others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat import ChatDecoder
from llm_conformance.contract import Attachment, Call, Response, ToolCall
from tests.broken.kinds import Events, Misunderstood, Plain, Streamed, less


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
        return replace(response, usage=response.usage and less(response.usage, "prompt_tokens", heard or 0))


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
