"""Cohere chat, v2, with content blocks, tool calls and citations: https://docs.cohere.com/reference/chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Annotation, Call, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason

from ._answer import Answer
from ._chat import stated, tool_calls
from ._errors import error_in_band
from ._provider import ProviderAdapter, bearer

FINISH: Mapping[str, FinishReason] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
    "TIMEOUT": "error",
}
# The types of citations whose offsets count in the plan or the thinking.
_NOT_THE_TEXT = ("PLAN", "THINKING_CONTENT")
_NO_CONTENT = ("content-end", "tool-call-end", "citation-end")


class CohereDecoder:
    """Decodes a response, or the events that build one up."""

    def __init__(self, call: Call) -> None:
        self._answer = Answer(call)
        self._starts: dict[object, int] = {}
        self._ended = False

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole response, or one event."""
        answer = self._answer
        answer.raw_events.append(document)
        answer.id = answer.id or document.get("id")
        kind, index = document.get("type"), document.get("index")
        delta = document.get("delta") or {}
        message = delta.get("message") or {}
        match kind:
            case None:
                yield from self._feed_message(document["message"])
                self._feed_end(document)
            case "message-start":
                pass
            case "content-start" | "content-delta":
                yield from self._feed_content(index, message["content"])
            case "tool-plan-delta":
                yield from self._feed_plan(message["tool_plan"])
            case "tool-call-start" | "tool-call-delta":
                yield from self._feed_call(index, message["tool_calls"])
            case "citation-start":
                yield from self._feed_citation(message["citations"])
            case "message-end":
                if delta.get("error"):
                    raise error_in_band({"message": delta["error"], "type": delta.get("error_type")}, answer.call)
                self._feed_end(delta)
                self._ended = True
            case _ if kind not in _NO_CONTENT:
                self._answer.keep(kind, document)

    def _feed_message(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        yield from self._feed_plan(message.get("tool_plan"))
        for index, block in enumerate(message.get("content") or ()):
            yield from self._feed_content(index, block)
        for index, call in enumerate(message.get("tool_calls") or ()):
            yield from self._feed_call(index, call)
        for citation in message.get("citations") or ():
            yield from self._feed_citation(citation)

    def _feed_content(self, index: object, block: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a block or a piece of a block. Only the first piece has the type."""
        self._starts.setdefault(index, len(self._answer.message))
        if block.get("type") not in (None, "text", "thinking"):
            self._answer.keep(block["type"], block)
        yield from self._answer.reasoning(block.get("thinking") or "", index)
        yield from self._answer.text(block.get("text") or "", index)

    def _feed_plan(self, plan: str | None) -> Iterator[StreamEvent]:
        yield from self._answer.reasoning(plan or "", "plan", kind="plan")

    def _feed_call(self, index: object, call: Mapping[str, Any]) -> Iterator[StreamEvent]:
        function = call.get("function") or {}
        yield from self._answer.tool(index, call.get("id"), function.get("name"), function.get("arguments") or "")

    def _feed_citation(self, citation: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Place a citation. Its offsets count in the block that it names; if it names no block, in the whole text.

        Offsets into the plan or the thinking have no place in the message, and stay in `data`.
        """
        if citation.get("type") in _NOT_THE_TEXT:
            yield from self._answer.annotate(Annotation(None, None, citation))
            return
        data = {key: value for key, value in citation.items() if key not in ("start", "end")}
        base = self._starts.get(citation.get("content_index"), 0)
        start, end = base + citation["start"], base + citation["end"]
        inside = 0 <= start <= end <= len(self._answer.message)
        yield from self._answer.annotate(Annotation(start, end, data) if inside else Annotation(None, None, data))

    def _feed_end(self, end: Mapping[str, Any]) -> None:
        self._answer.raw_finish = end.get("finish_reason")
        self._answer.raw_usage = end.get("usage") or {}

    def end(self) -> Iterator[StreamEvent]:
        """Yield nothing: no text is held back."""
        yield from ()

    @property
    def ended(self) -> bool:
        """Whether `message-end` has come."""
        return self._ended

    def response(self) -> Response:
        """Return the whole response."""
        return self._answer.response(FINISH.get(self._answer.raw_finish or ""), self._usage())

    def _usage(self) -> Usage | None:
        """Return the processed tokens. They may be more than the billed tokens. The API reports no total."""
        raw = self._answer.raw_usage
        tokens = raw.get("tokens") or {}
        prompt, completion = tokens.get("input_tokens"), tokens.get("output_tokens")
        if prompt is None and completion is None:
            return None
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            total_tokens=None if prompt is None or completion is None else prompt + completion,
            cached_tokens=raw.get("cached_tokens"),
            reasoning_tokens=tokens.get("reasoning_tokens"),
            raw=raw,
        )


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call."""
    messages = [_assistant(each) if isinstance(each, Response) else stated(each) for each in call.messages]
    body: dict[str, Any] = {"model": call.model, "messages": messages, "stream": call.stream, **call.params}
    if call.tools:
        body["tools"] = list(call.tools)
    return body


def _assistant(response: Response) -> dict[str, Any]:
    """Return an earlier response as a message: tool calls with their plan, or content without its thinking."""
    if not response.tool_calls:
        return {"role": "assistant", "content": response.message}
    plan = {"tool_plan": response.reasoning} if response.reasoning else {}
    return {"role": "assistant", **plan, "tool_calls": tool_calls(response)}


adapter = ProviderAdapter("cohere:chat", CohereDecoder, request, bearer)
