"""Broken adapters that fail RPL-1 to RPL-3 first: the next request."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters import ReferenceAdapters
from adapters._chat_decoder import ChatDecoder
from llm_conformance.contract import Call, Response, Segment
from tests.broken.base import Events, FaultyClient, FaultyDecoder

# RPL-1


class FaultyRequest(FaultyClient):
    """Has only the method `complete`; `remember` alters its earlier responses, `ask` the body of the request."""

    def __init__(self) -> None:
        super().__init__()
        self._correct = {api: adapter.request for api, adapter in self._by_api.items()}
        for api, adapter in self._by_api.items():
            self._by_api[api] = replace(adapter, request=self._asking(adapter.request))

    def asks_otherwise(self, call: Call) -> bool:
        """Return True if the fault changes the request of this call. Nothing else of the adapter has a fault."""
        correct = self._correct[f"{call.provider}:{call.api}"](copy.deepcopy(call))
        return json.dumps(self._for(call).request(copy.deepcopy(call))) != json.dumps(correct)

    def _asking(self, request: Callable[[Call], Mapping[str, Any]]) -> Callable[[Call], Mapping[str, Any]]:
        def ask(call: Call) -> Mapping[str, Any]:
            known = tuple(self.remember(each) if isinstance(each, Response) else each for each in call.messages)
            return self.ask(dict(request(replace(call, messages=known))), call)

        return ask

    def remember(self, response: Response) -> Response:
        return response

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        return body


def with_reasoning(response: Response, alter: Callable[[Segment], Segment | None]) -> Response:
    altered = (alter(each) if each.type == "reasoning" else each for each in response.segments)
    kept = tuple(each for each in altered if each is not None)
    text = "".join(each.content for each in kept if each.type == "reasoning")
    return replace(response, segments=kept, reasoning=text or None)


class TraceForgotten(FaultyRequest):
    """Does not send reasoning back."""

    fails = ("RPL-1",)
    says = "/messages/1/.* of the request .*; got nothing"

    def remember(self, response: Response) -> Response:
        return with_reasoning(response, lambda _: None)


class PhaseForgotten(FaultyRequest):
    """Sends messages back without their phase."""

    apis = ("openai:responses",)
    fails = ("RPL-1",)
    says = "/input/2/phase of the request"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        return body | {"input": [{key: item[key] for key in item if key != "phase"} for item in body["input"]]}


class CompactionForgotten(FaultyRequest):
    """Does not send a compaction back."""

    apis = ("openai:responses",)
    fails = ("RPL-1",)
    says = 'expected item of assistant: "compaction"'

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        return body | {"input": [item for item in body["input"] if item.get("type") != "compaction"]}


class CallerOfAResultLost(FaultyRequest):
    """Sends the result of a program's call back without the caller."""

    apis = ("openai:responses",)
    fails = ("RPL-1",)
    says = "/input/4/caller of the request to be"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        for item in body["input"]:
            if item.get("type") == "function_call_output":
                item.pop("caller", None)
        return body


class PatchAnsweredAsAFunction(FaultyRequest):
    """Sends the result of a patch back as that of a function."""

    apis = ("openai:responses",)
    fails = ("RPL-1",)
    says = "apply_patch_call_output.; got result of tool"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        kinds = {"apply_patch_call_output": "function_call_output"}
        return body | {
            "input": [
                {**item, "type": kinds.get(item["type"], item["type"])} if "type" in item else item
                for item in body["input"]
            ]
        }


class TraceTrimmed(FaultyRequest):
    """Strips the white space around reasoning that it sends back."""

    fails = ("RPL-1",)
    says = "reasoning_content of the request"

    def remember(self, response: Response) -> Response:
        return with_reasoning(response, lambda each: replace(each, content=each.content.strip()))


class EmptyTraceOmitted(FaultyRequest):
    """Sends no reasoning field if the reasoning is empty."""

    apis = ("deepseek:chat",)
    fails = ("RPL-1",)
    says = '/messages/1/reasoning_content of the request to be ""; got nothing'

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        empty = ("reasoning_content", "")
        messages = [{key: value for key, value in each.items() if (key, value) != empty} for each in body["messages"]]
        return {**body, "messages": messages}


class TraceOnlyWithCalls(FaultyRequest):
    """Sends reasoning back only with the call that it led to."""

    apis = ("deepseek:chat",)
    fails = ("RPL-1",)
    says = "/messages/4/reasoning_content of the request .*; got nothing"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        for message in body["messages"]:
            if "tool_calls" not in message:
                message.pop("reasoning_content", None)
        return body


class SignatureLost(FaultyRequest):
    """Sends reasoning back without its signature."""

    fails = ("RPL-1",)
    says = "signature"

    def remember(self, response: Response) -> Response:
        return with_reasoning(response, lambda each: replace(each, metadata={}))


class BlocksInAnotherOrder(FaultyRequest):
    """Sends the blocks of a response back in reverse order."""

    fails = ("RPL-1", "RPL-2")
    says = "expected part of assistant: .*; got call of assistant: |/messages/1/content of the request"

    def remember(self, response: Response) -> Response:
        return replace(response, segments=response.segments[::-1])


class CompactionNotSentBack(FaultyRequest):
    """Sends a response back without the summary of what it replaces."""

    fails = ("RPL-1",)
    says = 'expected part of assistant: "compaction"'
    apis = ("anthropic:messages",)

    def remember(self, response: Response) -> Response:
        return replace(response, segments=tuple(s for s in response.segments if s.metadata.get("type") != "compaction"))


class WaitingCallNotSentBack(FaultyRequest):
    """Sends a response back without hosted calls that have no result yet."""

    fails = ("RPL-1",)
    says = 'expected part of assistant: "server_tool_use"'
    apis = ("anthropic:messages",)

    def remember(self, response: Response) -> Response:
        answered = {
            each.metadata["wire"]["tool_use_id"]
            for each in response.segments
            if each.type == "other" and "tool_use_id" in each.metadata.get("wire", {})
        }
        kept = (s for s in response.segments if not s.metadata.get("server_executed") or s.metadata["id"] in answered)
        return replace(response, segments=tuple(kept))


class TraceInAnotherField(FaultyRequest):
    """Sends reasoning back in a field that the API does not know."""

    fails = ("RPL-1", "RPL-2")
    says = "reasoning_content of the request .*; got nothing"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        names = {"reasoning_content": "thinking"}
        messages = [{names.get(key, key): value for key, value in each.items()} for each in body.get("messages", ())]
        return {**body, "messages": messages} if messages else body


class FirstQuestionForgotten(FaultyRequest):
    """Replaces the first message of the user."""

    fails = ("RPL-1",)
    says = "expected the earlier text .*, in order; got a request that lacks it"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        if not any(isinstance(each, Response) for each in call.messages) or "messages" not in body:
            return body
        asked = next(number for number, each in enumerate(body["messages"]) if each["role"] == "user")
        changed = {**body["messages"][asked], "content": "Go on."}
        return {**body, "messages": [*body["messages"][:asked], changed, *body["messages"][asked + 1 :]]}


class ArgumentsAltered(FaultyRequest):
    """Alters the arguments of earlier tool calls."""

    fails = ("RPL-1",)
    says = "expected the earlier tool call .*, in order; got a request that lacks it"

    def remember(self, response: Response) -> Response:
        calls = tuple(replace(each, arguments=json.dumps({"again": each.arguments})) for each in response.tool_calls)
        segments = (replace(each, content="{}") if each.type == "tool_call" else each for each in response.segments)
        return replace(response, tool_calls=calls, segments=tuple(segments))


class ResultsLost(FaultyRequest):
    """Replaces the result of every tool call."""

    fails = ("RPL-1", "RPL-4")  # RPL-4 where the earlier messages are written out
    says = "expected the earlier text .*, in order; got a request that lacks it"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        messages = [{**each, "content": "ok"} if each["role"] == "tool" else each for each in body.get("messages", ())]
        return {**body, "messages": messages} if messages else body


class RolesSwapped(FaultyRequest):
    """Swaps the roles of user and assistant."""

    fails = ("RPL-1", "RPL-4")  # RPL-4 where the earlier messages are written out
    says = "expected text of user: .*; got text of assistant"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        other = {"user": "assistant", "assistant": "user"}
        messages = [{**each, "role": other.get(each["role"], each["role"])} for each in body.get("messages", ())]
        return {**body, "messages": messages} if len(messages) > 1 and call.provider == "openai" else body


class CallsWithoutTheirForm(FaultyRequest):
    """Sends tool calls back without the `function` object."""

    fails = ("RPL-1", "RPL-4")  # RPL-4 where the earlier messages are written out
    says = "expected call of assistant: .*; got call of assistant: "

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        messages = [
            {**each, "tool_calls": [{"id": call["id"], **call["function"]} for call in each["tool_calls"]]}
            if "tool_calls" in each and all("function" in call for call in each["tool_calls"])
            else each
            for each in body.get("messages", ())
        ]
        return {**body, "messages": messages} if messages else body


class NoMessagesAtAll(FaultyRequest):
    """Sends null instead of the messages."""

    fails = ("RPL-1",)
    says = "expected the earlier text .*, in order; got a request that lacks it"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        went_before = any(isinstance(each, Response) for each in call.messages)
        return {**body, "messages": None} if went_before and call.provider == "deepseek" else body


class OwnAnswerLost(FaultyRequest):
    """Sends the text of earlier responses back empty."""

    fails = ("RPL-1",)
    says = "expected the earlier text .*, in order; got a request that lacks it"

    def remember(self, response: Response) -> Response:
        segments = (replace(each, content="") if each.type == "text" else each for each in response.segments)
        return replace(response, message="", segments=tuple(segments))


class SignatureOfACallLost(FaultyRequest):
    """Sends Gemini's tool calls back without their signature."""

    apis = ("gemini:chat",)
    fails = ("RPL-1",)
    says = "thought_signature"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        for message in body.get("messages", ()):
            for call in message.get("tool_calls") or ():
                call.pop("extra_content", None)
        return body


class DetailsInPieces(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        self._details.in_pieces = False
        return super()._feed_message(message)


class PiecesOfDetailsSentBack(FaultyDecoder):
    """Sends `reasoning_details` back in the pieces in which a stream brought them."""

    apis = ("openrouter:chat",)
    fails = ("RPL-1",)
    says = "/messages/1/reasoning_details of the request"
    decoders = MappingProxyType({ChatDecoder: DetailsInPieces})
    stream = ReferenceAdapters.stream  # type: ignore[assignment]
    parse_stream = None  # type: ignore[assignment]


class ResultWithoutItsTool(FaultyRequest):
    """Sends Ollama a tool result without the tool's name."""

    fails = ("RPL-1",)
    says = "/messages/2/tool_name of the request"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        messages = [{key: value for key, value in each.items() if key != "tool_name"} for each in body["messages"]]
        return {**body, "messages": messages}

    def touches(self, api: str) -> bool:
        return api == "ollama:chat"


# RPL-2


class TraceWrittenIntoTheText(FaultyRequest):
    """Sends reasoning back inside the text of the message."""

    fails = ("RPL-2", "RPL-1")
    says = "expected no earlier reasoning in visible text of the request; got /.*"

    def remember(self, response: Response) -> Response:
        text = Segment("text", f"<thinking>{response.reasoning}</thinking>")
        return replace(response, message=f"{text.content}{response.message}", segments=(*response.segments, text))


class TraceSentToWhoRefusesIt(FaultyRequest):
    """Sends reasoning back to providers that reject it."""

    fails = ("RPL-2",)
    says = "expected no /messages/1/reasoning_content in the request"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        for message, known in zip(body.get("messages", ()), call.messages, strict=False):
            if isinstance(known, Response) and known.reasoning and call.provider in ("groq", "cerebras"):
                message["reasoning_content"] = known.reasoning
        return body


class TraceToldToTheSystem(FaultyRequest):
    """Sends reasoning back in the field `user`."""

    fails = ("RPL-2",)
    says = "no earlier reasoning in visible text of the request"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        traces = [each.reasoning[:60] for each in call.messages if isinstance(each, Response) and each.reasoning]
        return {**body, "user": f"someone who read {traces[0]}"} if traces else body


class TraceOnEveryMessage(FaultyRequest):
    """Sends the reasoning with every message, not only the assistant's."""

    fails = ("RPL-2",)
    says = "expected reasoning in assistant messages only"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        known = [each.reasoning for each in call.messages if isinstance(each, Response) and each.reasoning]
        if call.provider not in ("zai", "deepseek") or not known:
            return body
        return {**body, "messages": [{"reasoning_content": known[0], **each} for each in body["messages"]]}


class ModelWrittenIntoTheBody(FaultyRequest):
    """Sends the model in the body, although it is in the path."""

    apis = ("vertex:messages",)
    fails = ("RPL-2",)
    says = "expected no /model in the request"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        return {"model": call.model, **body}


# RPL-3


class FalseTakenForUnset(FaultyRequest):
    """Leaves out a switch that is false."""

    fails = ("RPL-3",)
    says = "/thinking/clear_thinking of the request to be false; got nothing"

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        thinking = {key: value for key, value in body.get("thinking", {}).items() if value}
        return body | ({"thinking": thinking} if thinking else {})


class EffortNotSent(FaultyRequest):
    """Knows only the switches that thinking had when it was new."""

    fails = ("RPL-3",)
    says = "/(output_config/effort|thinking/display) of the request to be .*; got nothing"
    apis = ("anthropic:messages",)

    def ask(self, body: dict[str, Any], _call: Call) -> dict[str, Any]:
        known = {key: value for key, value in body.get("thinking", {}).items() if key in ("type", "budget_tokens")}
        rest = {key: value for key, value in body.items() if key != "output_config"}
        return rest | ({"thinking": known} if known else {})


class EffortMadeUp(FaultyRequest):
    """Sends a reasoning effort that the caller has not asked for."""

    fails = ("RPL-3",)
    says = "expected no /reasoning_effort in the request: the call does not set it"

    def ask(self, body: dict[str, Any], call: Call) -> dict[str, Any]:
        return {"reasoning_effort": "medium", **body} if call.provider == "openai" and call.api == "chat" else body
