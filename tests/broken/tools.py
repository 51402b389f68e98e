"""Broken adapters that fail TOOL-1 or TOOL-2 first: tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters import _own_tools
from adapters._answer import Block
from adapters._chat_decoder import ChatDecoder
from adapters._converse import ConverseDecoder
from adapters._generate import GenerateDecoder
from adapters._responses import ResponsesDecoder
from adapters.anthropic import MessagesDecoder
from adapters.gemini_interactions import InteractionsDecoder
from llm_conformance.contract import Call, Response, StreamEvent, ToolCall
from tests.broken.base import Events, FaultyDecoder, FaultyEvents, FaultyResponse

# TOOL-1


class ToolCallWithoutArgumentsLost(FaultyResponse):
    """Drops tool calls without arguments."""

    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, tool_calls=tuple(c for c in response.tool_calls if c.arguments != "{}"))


class CallsByIndex(ChatDecoder):
    def _key(self, index: object, id: str | int | None) -> object:
        return index


class CallsOfOneIndexTakenForOne(FaultyDecoder):
    """Treats tool calls with the same index as one."""

    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"
    decoders = MappingProxyType({ChatDecoder: CallsByIndex})


class CallsWithoutIndexTakenForOne(FaultyDecoder):
    """Takes the position in the list of a delta for the index of a call that has none."""

    apis = ("gemini:chat",)
    fails = ("TOOL-1", "RSN-4")
    says = "expected the names of the tool calls"
    decoders = MappingProxyType({ChatDecoder: CallsByIndex})


class FirstPiecesOnly(GenerateDecoder):
    def _feed_call(self, call: Mapping[str, Any]) -> Events:
        return super()._feed_call({**call, "partialArgs": []})


class PartialArgumentsIgnored(FaultyDecoder):
    """Ignores arguments that are streamed value by value."""

    apis = ("vertex:generate",)
    fails = ("TOOL-1",)
    says = "got {}"
    decoders = MappingProxyType({GenerateDecoder: FirstPiecesOnly})


class HostedToolsHandedToTheClient(FaultyResponse):
    """Returns calls that the provider's own tools have answered."""

    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"

    def alter(self, response: Response, call: Call) -> Response:
        hosted = [
            ToolCall(f"hosted-{number}", str(each.metadata.get("name")), each.content or "{}")
            for number, each in enumerate(response.segments)
            if each.metadata.get("server_executed")
        ]
        return replace(response, tool_calls=(*response.tool_calls, *hosted))


class McpCallsHandedToTheClient(FaultyResponse):
    """Returns calls of MCP servers that the provider calls itself, but not those of its own tools."""

    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"
    apis = ("anthropic:messages",)

    def alter(self, response: Response, call: Call) -> Response:
        answered = [
            ToolCall(each.metadata["id"], each.metadata["name"], each.content or "{}")
            for each in response.segments
            if each.metadata.get("wire", {}).get("type") == "mcp_tool_use"
        ]
        return replace(response, tool_calls=(*response.tool_calls, *answered))


class EmptyStart(MessagesDecoder):
    def _feed_message(self, message: Mapping[str, Any], content: Iterable[Mapping[str, Any]]) -> Events:
        return super()._feed_message(message, ())


class ContentOfMessageStartIgnored(FaultyDecoder):
    """Reads blocks only from their own events."""

    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"
    decoders = MappingProxyType({MessagesDecoder: EmptyStart})


class OwnToolsHosted(ResponsesDecoder):
    def _feed_done(self, index: int, item: Mapping[str, Any]) -> Events:
        if not _own_tools.is_call(item):
            yield from super()._feed_done(index, item)
            return
        about = {"server_executed": True, "name": _own_tools.name(item), "item": item}
        self._answer.blocks.append(Block("tool_call", index, _own_tools.arguments(item), about))


class ShellOfTheClientTakenForHosted(FaultyDecoder):
    """Treats calls of tools that the provider defines and the client runs as answered by the provider."""

    apis = ("openai:responses",)
    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"
    decoders = MappingProxyType({ResponsesDecoder: OwnToolsHosted})


class EveryShellForTheClient(FaultyResponse):
    """Returns the calls of a shell that the provider has run in its container."""

    apis = ("openai:responses",)
    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"

    def alter(self, response: Response, call: Call) -> Response:
        items = [each.metadata.get("item", {}) for each in response.segments if each.metadata.get("server_executed")]
        shells = [ToolCall(item["call_id"], "shell", "{}") for item in items if item["type"] == "shell_call"]
        return replace(response, tool_calls=(*response.tool_calls, *shells))


class StartOnly(InteractionsDecoder):
    def _feed_delta(self, index: int, delta: Mapping[str, Any]) -> Events:
        return iter(()) if delta["type"] == "arguments_delta" else super()._feed_delta(index, delta)


class ArgumentsTakenFromTheStartOfTheStep(FaultyDecoder):
    """Ignores the argument deltas of an interaction's step."""

    fails = ("TOOL-1",)
    says = "got {}"
    decoders = MappingProxyType({InteractionsDecoder: StartOnly})


class ItemsWithIdOnly(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if "function_call" not in kind or event.get("output_index") in self._answer.tools:
            yield from super()._feed_event(kind, event)

    def _feed_call(self, index: int, item: Mapping[str, Any], arguments: str) -> Iterator[StreamEvent]:
        if item.get("id"):
            yield from super()._feed_call(index, item, arguments)


class IdOfTheItemOfACallTakenForGranted(FaultyDecoder):
    """Ignores tool calls whose item has no id."""

    apis = ("bedrock:responses",)
    fails = ("TOOL-1",)
    says = "expected"
    decoders = MappingProxyType({ResponsesDecoder: ItemsWithIdOnly})


class SecondChoiceTakenForAnotherAnswer(FaultyResponse):
    """Ignores the tool calls in Copilot's second choice, which is part of the same response."""

    apis = ("copilot:chat",)
    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"

    def alter(self, response: Response, call: Call) -> Response:
        choices = response.raw_events[0].get("choices") or ()
        apart = len(choices) > 1 and not any("index" in choice for choice in choices)
        return replace(response, tool_calls=()) if apart else response


class AllToolsForTheClient(ConverseDecoder):
    def _feed_tool(self, index: int, use: Mapping[str, Any]) -> Events:
        return super()._feed_tool(index, {key: value for key, value in use.items() if key != "type"})


class SearchOfBedrockHandedToTheClient(FaultyDecoder):
    """Returns calls that a tool of Bedrock's own has answered."""

    fails = ("TOOL-1",)
    says = "expected the names of the tool calls"
    decoders = MappingProxyType({ConverseDecoder: AllToolsForTheClient})


class ArgumentsWrittenTwice(FaultyResponse):
    """Encodes the arguments of tool calls as JSON twice."""

    fails = ("TOOL-1",)
    says = "expected arguments"

    def alter(self, response: Response, call: Call) -> Response:
        calls = [replace(each, arguments=json.dumps(each.arguments)) for each in response.tool_calls]
        return replace(response, tool_calls=tuple(calls))

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"


class ArgumentsOfStreamsWrittenAgain(FaultyEvents):
    """Parses the arguments of a streamed call and writes them in another way than the deltas have them."""

    fails = ("TOOL-1",)
    says = "expected the arguments"

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            if whole is not None:
                whole = replace(whole, tool_calls=tuple(map(written_again, whole.tool_calls)))
            yield replace(event, response=whole)

    def touches(self, api: str) -> bool:
        return api == "openai:chat"


def written_again(call: ToolCall) -> ToolCall:
    return call if call.type == "custom" else replace(call, arguments=json.dumps(json.loads(call.arguments), indent=1))


# TOOL-2


class AnnouncedCalls(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        item = event.get("item", {})
        if kind == "response.output_item.added" and _own_tools.is_call(item):
            self._announced = item["call_id"]
        if kind == "response.output_item.done" and _own_tools.is_call(item):
            event = {**event, "item": {**item, "call_id": self._announced}}
        yield from super()._feed_event(kind, event)


class IdOfTheAnnouncedSearchKept(FaultyDecoder):
    """Takes the id of a call from the announced item, although the finished item of a tool search has another."""

    apis = ("openai:responses",)
    fails = ("TOOL-2",)
    says = "expected id"
    decoders = MappingProxyType({ResponsesDecoder: AnnouncedCalls})


class EmptyIdsKept(ChatDecoder):
    def _feed_call(self, key: object, id: str | int | None, function: Mapping[str, Any]) -> Events:
        yield from super()._feed_call(key, id, function)
        if id == "":
            self._answer.tools[key].id = None


class EmptyIdTakenForTheId(FaultyDecoder):
    """Lets an empty id in a later delta replace the id of a tool call."""

    apis = ("alibaba:chat",)
    fails = ("TOOL-2", "STR-1")
    says = "expected .*call_"
    decoders = MappingProxyType({ChatDecoder: EmptyIdsKept})


class NullKept(ChatDecoder):
    def _feed_calls(self, calls: Sequence[Mapping[str, Any]], signature: Any) -> Events:
        yield from super()._feed_calls(calls, signature)
        for call in calls:
            if call.get("id") == "null":
                self._answer.tools[self._key(call["index"], None)].id = "null"


class TheWordNullTakenForAnId(FaultyDecoder):
    """Takes the id of a later piece for that of the tool call, even if it is the word null."""

    fails = ("TOOL-2",)
    says = "got .null"
    apis = ("mistral:chat",)
    decoders = MappingProxyType({ChatDecoder: NullKept})
