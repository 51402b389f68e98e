"""Broken adapters that fail SHP-1 first: values of a type or name that the contract does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from llm_conformance.contract import Call, Response, ToolCall
from tests.broken.base import FaultyResponse

# SHP-1


class CostAsText(FaultyResponse):
    """Returns the cost as text."""

    fails = ("SHP-1",)
    says = 'must be a number or null, and is "0.0"'

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, cost_usd="0.0")  # type: ignore[arg-type]


class NullForNoMessage(FaultyResponse):
    """Returns null instead of an empty message."""

    fails = ("SHP-1", "MSG-1", "MSG-2", "RSN-3", "ANN-1", "ATT-1")
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
    fails = ("SHP-1", "TOOL-1")
    says = "must not be empty"

    def alter(self, response: Response, call: Call) -> Response:
        message = (response.raw_events[0].get("choices") or [{}])[0].get("message") or {}
        nameless = isinstance(message.get("function_call"), Mapping) and not message["function_call"].get("name")
        return replace(response, tool_calls=(*response.tool_calls, ToolCall(None, "", "{}"))) if nameless else response
