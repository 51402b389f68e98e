"""Broken adapters that get wrong what goes with an answer: counts, audio, calls, finish reason, provenance."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters.anthropic import MessagesDecoder
from llm_conformance.contract import Call, Response, Usage
from llm_conformance.wire.providers.api import COUNTS
from tests.broken.kinds import Events, Misunderstood, Plain, Streamed

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
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return usage
        visible = usage.completion_tokens - (usage.reasoning_tokens or 0)
        return replace(usage, completion_tokens=visible, total_tokens=usage.prompt_tokens + visible)


class CacheLeftOutOfPrompt(Counted):
    fails = ("USE-3", "USE-2")
    says = "expected prompt_tokens"

    def count(self, usage: Usage) -> Usage:
        prompt = usage.raw.get("input_tokens", usage.prompt_tokens)
        if prompt is None or usage.completion_tokens is None:
            return usage
        return replace(usage, prompt_tokens=prompt, total_tokens=prompt + usage.completion_tokens)


class NoneAsZero(Counted):
    fails = ("USE-4", "USE-1")
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
    says = r"it tried 192\.0\.2\.7:443, from .*facts\.py"

    def alter(self, response: Response, call: Call) -> Response:
        with contextlib.suppress(OSError):
            socket.create_connection(("192.0.2.7", 443), timeout=1)
        return response
