"""Broken adapters that fail USE-1 to USE-5 first: token counts."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat_decoder import ChatDecoder
from adapters._counting import OPENAI
from adapters._dialect import Dialect
from llm_conformance.contract import Call, Response, Usage
from llm_conformance.wire.providers.api import COUNTS
from tests.broken.base import FaultyDecoder, FaultyResponse, less

# USE-1


class FaultyUsage(FaultyResponse):
    """Changes the usage with `count`."""

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, usage=response.usage and self.count(response.usage))

    def count(self, usage: Usage) -> Usage | None:
        raise NotImplementedError


class TotalWithoutCache(FaultyUsage):
    """Leaves cached tokens out of the total."""

    fails = ("USE-1",)
    says = "expected total_tokens [0-9]+ = "

    def count(self, usage: Usage) -> Usage:
        cache = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
        return replace(usage, total_tokens=usage.total_tokens and usage.total_tokens - cache)


def _with(usage: Usage | None, **counts: Any) -> Usage | None:
    return usage and replace(usage, **counts)


class CompletionTakenForTheTotal(FaultyResponse):
    """Returns the completion tokens as the total."""

    fails = ("USE-1", "USE-4")
    says = r"expected total_tokens 255 = 211 \+ 44"

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage
        return replace(response, usage=usage and replace(usage, total_tokens=usage.completion_tokens))

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"


# USE-2


class ReasoningOfNoTotalTakenForAPart(FaultyResponse):
    """Returns a reasoning count that is no part of the completion tokens."""

    fails = ("USE-2",)
    says = "expected reasoning_tokens <= completion_tokens"
    apis = ("perplexity:chat",)

    def alter(self, response: Response, call: Call) -> Response:
        apart = response.usage.raw.get("reasoning_tokens") if response.usage else None
        return response if apart is None else replace(response, usage=_with(response.usage, reasoning_tokens=apart))


# USE-3


class CacheLeftOutOfPrompt(FaultyUsage):
    """Leaves cached tokens out of the prompt."""

    fails = ("USE-3",)
    says = "expected prompt_tokens"

    def count(self, usage: Usage) -> Usage:
        prompt = usage.raw.get("input_tokens", usage.prompt_tokens)
        if prompt is None or usage.completion_tokens is None:
            return usage
        return replace(usage, prompt_tokens=prompt, total_tokens=prompt + usage.completion_tokens)


class BilledTaken(FaultyResponse):
    """Returns the billed tokens instead of the processed ones."""

    fails = ("USE-3",)
    says = "expected prompt_tokens"

    def alter(self, response: Response, call: Call) -> Response:
        billed = response.usage.raw.get("billed_units") if response.usage else None
        if response.usage is None or billed is None:
            return response
        asked, answered = billed.get("input_tokens"), billed.get("output_tokens")
        total = None if asked is None or answered is None else asked + answered
        counts = {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": total}
        return replace(response, usage=replace(response.usage, **counts))


class CacheAddedToThePrompt(FaultyResponse):
    """Adds cached tokens to a prompt count that includes them."""

    apis = ("databricks:chat",)
    fails = ("USE-3",)
    says = "expected prompt_tokens"

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage
        if call.provider != "databricks" or usage is None or usage.prompt_tokens is None:
            return response
        beside = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
        return replace(response, usage=replace(usage, prompt_tokens=usage.prompt_tokens + beside))


class ToolUsePromptLost(FaultyResponse):
    """Leaves Gemini's tool use tokens out of the prompt."""

    fails = ("USE-3",)
    says = "expected .*(prompt|completion)_tokens"

    def alter(self, response: Response, call: Call) -> Response:
        read = response.usage.raw.get("toolUsePromptTokenCount", 0) if response.usage else 0
        return replace(response, usage=response.usage and less(response.usage, "prompt_tokens", read))


class ThoughtsLeftOutOfTheCompletion(FaultyResponse):
    """Leaves Gemini's thoughts out of the completion."""

    fails = ("USE-3",)
    says = "expected .*(prompt|completion)_tokens"

    def alter(self, response: Response, call: Call) -> Response:
        thought = response.usage.raw.get("thoughtsTokenCount", 0) if response.usage else 0
        return replace(response, usage=response.usage and less(response.usage, "completion_tokens", thought))


class CountsAsSent(ChatDecoder):
    def __init__(self, call: Call, dialect: Dialect) -> None:
        super().__init__(call, replace(dialect, counting=OPENAI))


class HiddenThoughtsLeftOutOfTheCompletion(FaultyDecoder):
    """Leaves thoughts that only the total includes out of the completion."""

    apis = ("gemini:chat",)
    fails = ("USE-3",)
    says = "expected .*(prompt|completion)_tokens"
    decoders = MappingProxyType({ChatDecoder: CountsAsSent})


class ReasoningApartLeftOutOfTheCompletion(FaultyResponse):
    """Leaves xAI's reasoning tokens, which are counted apart, out of the completion."""

    fails = ("USE-3",)
    says = "expected .*(prompt|completion)_tokens"
    apis = ("xai:chat",)

    def alter(self, response: Response, call: Call) -> Response:
        raw = response.usage.raw.get("completion_tokens") if response.usage else None
        return response if raw is None else replace(response, usage=_with(response.usage, completion_tokens=raw))


class ReasoningAddedToAnOutputThatHasIt(FaultyResponse):
    """Adds the reasoning tokens to an output count that includes them."""

    fails = ("USE-3",)
    says = "expected .*(prompt|completion)_tokens"
    apis = ("xai:responses",)

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage if call.api == "responses" else None
        return (
            replace(response, usage=less(usage, "completion_tokens", -(usage.reasoning_tokens or 0)))
            if usage
            else response
        )


class AudioLeftOutOfThePrompt(FaultyResponse):
    """Leaves Mistral's audio tokens out of the prompt."""

    apis = ("mistral:chat",)
    fails = ("USE-3",)
    says = "expected .*(prompt|completion)_tokens"

    def alter(self, response: Response, call: Call) -> Response:
        heard = response.usage.audio_prompt_tokens if response.usage and call.provider == "mistral" else None
        return replace(response, usage=response.usage and less(response.usage, "prompt_tokens", heard or 0))


class ReasoningBesideTheCompletion(FaultyUsage):
    """Subtracts the reasoning tokens from the completion."""

    fails = ("USE-3",)
    says = "expected completion_tokens"

    def count(self, usage: Usage) -> Usage:
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return usage
        visible = usage.completion_tokens - (usage.reasoning_tokens or 0)
        return replace(usage, completion_tokens=visible, total_tokens=usage.prompt_tokens + visible)


# USE-4


class NoneAsZero(FaultyUsage):
    """Returns 0 for counts that the provider does not give."""

    fails = ("USE-4",)
    says = "null; got 0"

    def count(self, usage: Usage) -> Usage:
        return Usage(**{count: getattr(usage, count) or 0 for count in COUNTS}, raw=usage.raw)


class UncountedPromptTakenForNone(FaultyResponse):
    """Returns 0 prompt tokens if Ollama does not count the prompt."""

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


class WritesOfFiveMinutesOnly(FaultyResponse):
    """Counts only those cache writes that are kept for five minutes."""

    fails = ("USE-5",)
    says = "expected cache_write_tokens 2406"
    apis = ("anthropic:messages",)

    def alter(self, response: Response, call: Call) -> Response:
        usage = response.usage
        if usage is None or "cache_creation" not in usage.raw:
            return response
        short = usage.raw["cache_creation"]["ephemeral_5m_input_tokens"]
        return replace(response, usage=replace(usage, cache_write_tokens=short))


class CacheWritesLost(FaultyUsage):
    """Leaves out how many prompt tokens were written to the cache."""

    fails = ("USE-5",)
    says = "expected cache_write_tokens"

    def count(self, usage: Usage) -> Usage:
        return replace(usage, cache_write_tokens=None)
