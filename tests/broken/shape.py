"""Broken adapters that fail SHP-1 first: no answer, or values of a type or name that the contract does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat_decoder import ChatDecoder
from llm_conformance.contract import Call, HttpResponse, Response, ToolCall, ValidationError
from tests.broken.base import Events, FaultyBody, FaultyDecoder, FaultyEvents, FaultyResponse

# SHP-1


class CostAsText(FaultyResponse):
    """Returns the cost as text."""

    fails = ("SHP-1",)
    says = 'must be a number or null, and is "0.0"'

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, cost_usd="0.0")  # type: ignore[arg-type]


class NullForNoMessage(FaultyResponse):
    """Returns null instead of an empty message."""

    fails = ("SHP-1",)
    says = "must be a string, and is null"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or None)  # type: ignore[arg-type]


class RawFinishReason(FaultyResponse):
    """Returns the provider's finish reason instead of the contract's."""

    fails = ("SHP-1", "FIN-1")
    says = "must be "

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason=response.raw_finish_reason)  # type: ignore[arg-type]


class EmptyCallTakenForACall(FaultyResponse):
    """Makes a tool call of a `function_call` object whose fields are all empty."""

    apis = ("snowflake:chat",)
    fails = ("SHP-1",)
    says = "must not be empty"

    def alter(self, response: Response, call: Call) -> Response:
        message = (response.raw_events[0].get("choices") or [{}])[0].get("message") or {}
        nameless = isinstance(message.get("function_call"), Mapping) and not message["function_call"].get("name")
        return replace(response, tool_calls=(*response.tool_calls, ToolCall(None, "", "{}"))) if nameless else response


class WhiteSpaceBeforeJsonRefused(FaultyBody):
    """Rejects a body with white space before the JSON, so no rule about the response can judge."""

    apis = ("openrouter:chat",)
    fails = ("SHP-1", "ERR-1")
    says = "raised ValidationError: that is no JSON"

    def alter(self, http: HttpResponse) -> HttpResponse:
        if http.body[:1].isspace():
            raise ValidationError("that is no JSON", provider="openrouter")
        return http


class CrashOnARedactedBlock(FaultyResponse):
    """Raises KeyError for a redacted block, so no rule about the response can judge."""

    fails = ("SHP-1",)
    says = "raised KeyError"

    def alter(self, response: Response, call: Call) -> Response:
        if any("redacted" in each.metadata for each in response.segments):
            raise KeyError("thinking")
        return response


class DeltaRequired(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        for choice in document.get("choices") or ():
            if "message" not in choice and "delta" not in choice:
                raise KeyError("message")
        return super()._feed_completion(document)


class ChoiceOfTheFilterTakenForMalformed(FaultyDecoder):
    """Raises an error for Azure's content filter chunk, which has no delta."""

    apis = ("azure:chat",)
    fails = ("SHP-1",)
    says = "malformed answer"
    decoders = MappingProxyType({ChatDecoder: DeltaRequired})


class CrashOnAnUnknownBlock(FaultyEvents):
    """Raises KeyError for an unknown block, so no rule about the response can judge."""

    fails = ("SHP-1",)
    says = "raised KeyError"

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            if whole and any(each.metadata.get("type") == "quantum_block" for each in whole.segments):
                raise KeyError("quantum_block")
            yield event


class EmptyNamesKept(ChatDecoder):
    def _feed_call(self, key: object, id: str | int | None, function: Mapping[str, Any]) -> Events:
        yield from super()._feed_call(key, id, function)
        self._answer.tools[key].name = function.get("name", self._answer.tools[key].name)


class EmptyNameTakenForTheName(FaultyDecoder):
    """Takes the empty name of a later piece for the name of the tool call."""

    fails = ("SHP-1",)
    says = "must not be empty"
    apis = ("mistral:chat",)
    decoders = MappingProxyType({ChatDecoder: EmptyNamesKept})
