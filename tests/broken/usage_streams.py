"""Broken adapters that fail USE-3 first: the token counts of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from adapters import _framing
from adapters._chat_decoder import ChatDecoder
from adapters._generate import GenerateDecoder
from adapters.anthropic import MessagesDecoder
from adapters.bedrock import InvokedDecoder
from tests.broken.base import Events, FaultyDecoder, FaultyFraming

# USE-3


class CountsAdded(MessagesDecoder):
    def _feed_usage(self, usage: Mapping[str, Any] | None) -> None:
        kept = self._answer.raw_usage
        for key, value in (usage or {}).items():
            kept[key] = value + kept.get(key, 0) if isinstance(value, int) else value


class UsageSummed(FaultyDecoder):
    """Adds up the counts of a stream, although they are cumulative."""

    fails = ("USE-3", "USE-5")
    says = "expected (prompt|completion)_tokens"
    decoders = MappingProxyType({MessagesDecoder: CountsAdded})


class CountsReplaced(MessagesDecoder):
    def _feed_usage(self, usage: Mapping[str, Any] | None) -> None:
        self._answer.raw_usage = dict(usage or {})


class UsageOverwrittenByTheLastEvent(FaultyDecoder):
    """Keeps only the counts of the last event that has any."""

    fails = ("USE-3", "USE-5")
    says = "expected prompt_tokens"
    decoders = MappingProxyType({MessagesDecoder: CountsReplaced})


class IterationsSummed(MessagesDecoder):
    def _feed_usage(self, usage: Mapping[str, Any] | None) -> None:
        super()._feed_usage(usage)
        for count in ("input_tokens", "output_tokens"):
            if iterations := (usage or {}).get("iterations"):
                self._answer.raw_usage[count] = sum(each[count] for each in iterations)


class CountsOfOtherModelsAdded(FaultyDecoder):
    """Adds up the iterations of a turn, also those of an advisor, of a summary and of a model that declined."""

    fails = ("USE-3",)
    says = "expected (prompt|completion)_tokens"
    decoders = MappingProxyType({MessagesDecoder: IterationsSummed})


class LastIterationOnly(MessagesDecoder):
    def _feed_usage(self, usage: Mapping[str, Any] | None) -> None:
        super()._feed_usage(usage)
        if iterations := (usage or {}).get("iterations"):
            self._answer.raw_usage |= {count: iterations[-1][count] for count in ("input_tokens", "output_tokens")}


class LastIterationTakenForTheTurn(FaultyDecoder):
    """Takes the last iteration of a turn for the whole."""

    fails = ("USE-3", "USE-5")
    says = "expected (prompt|completion)_tokens"
    decoders = MappingProxyType({MessagesDecoder: LastIterationOnly})


class FirstCountsKept(GenerateDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        before = dict(self._answer.raw_usage)
        yield from super().feed(document)
        self._answer.raw_usage = before or self._answer.raw_usage


class FirstUsageOfAStreamKept(FaultyDecoder):
    """Keeps the first counts of a stream."""

    fails = ("USE-3", "USE-5")
    says = "expected completion_tokens"
    decoders = MappingProxyType({GenerateDecoder: FirstCountsKept})


class CountsMerged(GenerateDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        before = self._answer.raw_usage
        yield from super().feed(document)
        self._answer.raw_usage = {**before, **self._answer.raw_usage}


class CountsOfChunksMerged(FaultyDecoder):
    """Keeps a count of an earlier chunk that the last one leaves out."""

    fails = ("USE-3",)
    says = "expected completion_tokens"
    decoders = MappingProxyType({GenerateDecoder: CountsMerged})


class WithoutExtension(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        kept = {key: value for key, value in (document.get("x_groq") or {}).items() if key != "usage"}
        return super()._feed_completion({**document, "x_groq": kept})


class UsageInTheExtensionLost(FaultyDecoder):
    """Ignores the usage in Groq's `x_groq`."""

    fails = ("USE-3",)
    says = "the token counts of the stream were lost"
    decoders = MappingProxyType({ChatDecoder: WithoutExtension})


class WithoutUsageInChoices(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        kept = [{**each, "usage": None} for each in document.get("choices") or ()]
        return super()._feed_completion({**document, "choices": kept} if kept else document)


class UsageInTheChoiceLost(FaultyDecoder):
    """Ignores usage inside a choice."""

    apis = ("moonshot:chat",)
    fails = ("USE-3",)
    says = "the token counts of the stream were lost"
    decoders = MappingProxyType({ChatDecoder: WithoutUsageInChoices})


def until_the_stop(chunks: Iterable[bytes]) -> Iterator[str | bytes]:
    for document in _framing.aws_messages(chunks):
        yield document
        if "messageStop" in json.loads(document):
            return


class NothingReadBehindTheStop(FaultyFraming):
    """Stops reading at `messageStop`, before the usage comes."""

    fails = ("USE-3", "PRV-8")
    says = "the token counts of the stream were lost"
    unframe = MappingProxyType({_framing.aws_messages: until_the_stop})


class MetricsAsUsage(InvokedDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        yield from super().feed(document)
        metrics = document.get("amazon-bedrock-invocationMetrics")
        if metrics:
            names = {"input_tokens": "inputTokenCount", "output_tokens": "outputTokenCount"}
            self._answer.raw_usage |= {name: metrics[own] for name, own in names.items()}


class InvocationMetricsTakenForUsage(FaultyDecoder):
    """Takes Bedrock's invocation metrics for the usage."""

    apis = ("bedrock:invoke",)
    fails = ("USE-3",)
    says = "expected completion_tokens"
    decoders = MappingProxyType({InvokedDecoder: MetricsAsUsage})
