"""Broken adapters that fail USE-1 to USE-5 first: token counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters import _framing
from adapters._chat_decoder import ChatDecoder
from adapters._counting import OPENAI
from adapters._dialect import Dialect
from adapters._generate import GenerateDecoder
from adapters.anthropic import MessagesDecoder
from adapters.bedrock import InvokedDecoder
from llm_conformance.contract import Call, Response, Usage
from llm_conformance.wire.providers.api import COUNTS
from tests.broken.base import Events, Misunderstood, Plain, Unframed, less

# USE-1


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


class Literal(ChatDecoder):
    def __init__(self, call: Call, dialect: Dialect) -> None:
        super().__init__(call, replace(dialect, counting=OPENAI))


class HiddenThoughtsLeftOutOfTheCompletion(Misunderstood):
    apis = ("gemini:chat",)
    fails = ("USE-1", "USE-3", "USE-5")
    says = "expected total_tokens = "
    decoders = MappingProxyType({ChatDecoder: Literal})


def _with(usage: Usage | None, **counts: Any) -> Usage | None:
    return usage and replace(usage, **counts)


class ReasoningApartLeftOutOfTheCompletion(Plain):
    fails = ("USE-1", "USE-2", "USE-3")
    says = "expected total_tokens = "
    apis = ("xai:chat",)

    def alter(self, response: Response, call: Call) -> Response:
        raw = response.usage.raw.get("completion_tokens") if response.usage else None
        return response if raw is None else replace(response, usage=_with(response.usage, completion_tokens=raw))


class ReasoningAddedToAnOutputThatHasIt(Plain):
    fails = ("USE-1", "USE-3")
    says = "expected total_tokens = "
    apis = ("xai:responses",)

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage if call.api == "responses" else None
        return (
            replace(response, usage=less(usage, "completion_tokens", -(usage.reasoning_tokens or 0)))
            if usage
            else response
        )


class AudioLeftOutOfThePrompt(Plain):
    apis = ("mistral:chat",)
    fails = ("USE-1", "USE-2", "USE-3")
    says = "expected total_tokens = "

    def alter(self, response: Response, call: Call) -> Response:
        heard = response.usage.audio_prompt_tokens if response.usage and call.provider == "mistral" else None
        return replace(response, usage=response.usage and less(response.usage, "prompt_tokens", heard or 0))


class CompletionTakenForTheTotal(Plain):
    fails = ("USE-1", "USE-3", "USE-4")
    says = "expected total_tokens = 211 . 44"

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage
        return replace(response, usage=usage and replace(usage, total_tokens=usage.completion_tokens))

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"


# USE-2


class ReasoningBesideTheCompletion(Counted):
    fails = ("USE-2", "USE-3")
    says = "expected reasoning_tokens <= completion_tokens"

    def count(self, usage: Usage) -> Usage:
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return usage
        visible = usage.completion_tokens - (usage.reasoning_tokens or 0)
        return replace(usage, completion_tokens=visible, total_tokens=usage.prompt_tokens + visible)


# USE-3


class CacheLeftOutOfPrompt(Counted):
    fails = ("USE-3", "USE-2")
    says = "expected prompt_tokens"

    def count(self, usage: Usage) -> Usage:
        prompt = usage.raw.get("input_tokens", usage.prompt_tokens)
        if prompt is None or usage.completion_tokens is None:
            return usage
        return replace(usage, prompt_tokens=prompt, total_tokens=prompt + usage.completion_tokens)


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


# USE-4


class NoneAsZero(Counted):
    fails = ("USE-4", "USE-1")
    says = "null; got 0"

    def count(self, usage: Usage) -> Usage:
        return Usage(**{count: getattr(usage, count) or 0 for count in COUNTS}, raw=usage.raw)


class ReasoningOfNoTotalTakenForAPart(Plain):
    fails = ("USE-4",)
    says = "expected reasoning_tokens null"
    apis = ("perplexity:chat",)

    def alter(self, response: Response, call: Call) -> Response:
        apart = response.usage.raw.get("reasoning_tokens") if response.usage else None
        return response if apart is None else replace(response, usage=_with(response.usage, reasoning_tokens=apart))


class UncountedPromptTakenForNone(Plain):
    fails = ("USE-4",)
    says = "expected prompt_tokens null; got 0"

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage
        if usage is None or usage.prompt_tokens is not None:
            return response
        return replace(response, usage=replace(usage, prompt_tokens=0, total_tokens=usage.completion_tokens))

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"


# USE-5


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


class StoppingAtTheFirstUsage(GenerateDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        before = dict(self._answer.raw_usage)
        yield from super().feed(document)
        self._answer.raw_usage = before or self._answer.raw_usage


class FirstUsageOfAStreamKept(Misunderstood):
    fails = ("USE-5", "USE-3")
    says = "expected completion_tokens"
    decoders = MappingProxyType({GenerateDecoder: StoppingAtTheFirstUsage})


class Deaf(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        kept = {key: value for key, value in (document.get("x_groq") or {}).items() if key != "usage"}
        return super()._feed_completion({**document, "x_groq": kept})


class UsageInTheExtensionLost(Misunderstood):
    fails = ("USE-5", "USE-1", "USE-2", "USE-3")
    says = "a chunk that only carries usage was lost"
    decoders = MappingProxyType({ChatDecoder: Deaf})


class CountingOutside(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        kept = [{**each, "usage": None} for each in document.get("choices") or ()]
        return super()._feed_completion({**document, "choices": kept} if kept else document)


class UsageInTheChoiceLost(Misunderstood):
    apis = ("moonshot:chat",)
    fails = ("USE-5", "USE-1", "USE-2", "USE-3")
    says = "a chunk that only carries usage was lost"
    decoders = MappingProxyType({ChatDecoder: CountingOutside})


def until_the_stop(chunks: Iterable[bytes]) -> Iterator[str | bytes]:
    for document in _framing.aws_messages(chunks):
        yield document
        if "messageStop" in json.loads(document):
            return


class NothingReadBehindTheStop(Unframed):
    fails = ("USE-5", "USE-1", "USE-2", "USE-3", "PRV-1")
    says = "a chunk that only carries usage was lost"
    unframe = MappingProxyType({_framing.aws_messages: until_the_stop})


class Measuring(InvokedDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        yield from super().feed(document)
        metrics = document.get("amazon-bedrock-invocationMetrics")
        if metrics:
            names = {"input_tokens": "inputTokenCount", "output_tokens": "outputTokenCount"}
            self._answer.raw_usage |= {name: metrics[own] for name, own in names.items()}


class InvocationMetricsTakenForUsage(Misunderstood):
    apis = ("bedrock:invoke",)
    fails = ("USE-5", "USE-3")
    says = "expected completion_tokens"
    decoders = MappingProxyType({InvokedDecoder: Measuring})
