"""Cohere's first chat API: https://docs.cohere.com/reference/chat-v1. A stream ends with the whole answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Annotation, Call, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason

from ._answer import Answer
from ._framing import lines
from ._provider import ProviderAdapter, bearer

Document = Mapping[str, Any]

FINISH: Mapping[str, FinishReason] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "ERROR": "error",
    "ERROR_TOXIC": "content_filter",
    "ERROR_LIMIT": "length",
}
_ROLES = {"user": "USER", "assistant": "CHATBOT", "system": "SYSTEM"}
_WITHOUT_CONTENT = ("stream-start", "search-queries-generation", "search-results", "tool-calls-chunk")


class CohereV1Decoder:
    """Decodes an answer, or the events that build one up."""

    def __init__(self, call: Call) -> None:
        self._answer = Answer(call)

    def feed(self, document: Document) -> Iterator[StreamEvent]:
        """Take the whole answer, or one event."""
        answer = self._answer
        answer.raw_events.append(document)
        answer.id = answer.id or document.get("response_id") or document.get("generation_id")
        match document.get("event_type"):
            case None:
                yield from answer.text(document["text"])
                yield from self._feed_lists(document)
                self._feed_end(document, document)
            case "text-generation":
                yield from answer.text(document["text"])
            case "citation-generation" | "tool-calls-generation":
                yield from self._feed_lists(document)
            case "stream-end":
                self._feed_end(document, document.get("response") or {})
            case kind if kind not in _WITHOUT_CONTENT:
                answer.keep(str(kind), document)

    def _feed_lists(self, document: Document) -> Iterator[StreamEvent]:
        for citation in document.get("citations") or ():
            data = {name: value for name, value in citation.items() if name not in ("start", "end")}
            inside = 0 <= citation["start"] <= citation["end"] <= len(self._answer.message)
            start, end = (citation["start"], citation["end"]) if inside else (None, None)
            yield from self._answer.annotate(Annotation(start, end, data))
        for call in document.get("tool_calls") or ():
            arguments = json.dumps(call["parameters"], ensure_ascii=False)
            yield from self._answer.tool(len(self._answer.tools), None, call["name"], arguments)

    def _feed_end(self, end: Document, whole: Document) -> None:
        self._answer.raw_finish = end["finish_reason"]
        self._answer.raw_usage = dict((whole.get("meta") or {}).get("tokens") or {})

    def end(self) -> Iterator[StreamEvent]:
        """Yield nothing: no text is held back."""
        yield from ()

    @property
    def ended(self) -> bool:
        """Whether `stream-end` has come."""
        return self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole response."""
        raw = self._answer.raw_usage
        prompt, completion = raw.get("input_tokens"), raw.get("output_tokens")
        total = None if prompt is None or completion is None else prompt + completion
        counts = Usage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=total, raw=raw)
        usage = None if prompt is None and completion is None else counts
        return self._answer.response(FINISH.get(self._answer.raw_finish or ""), usage)


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call. The last message has a field of its own, beside the history."""
    *earlier, last = call.messages
    history = [_said(each) for each in earlier]
    body = {"model": call.model, "message": last["content"], "stream": call.stream, **call.params}
    body |= {"chat_history": history} if history else {}
    return body | ({"tools": [_tool(each["function"]) for each in call.tools]} if call.tools else {})


def _said(message: Any) -> Document:
    if isinstance(message, Response):
        return {"role": "CHATBOT", "message": message.message}
    if message["role"] not in _ROLES:
        raise NotImplementedError("results of tools have no ids here")
    return {"role": _ROLES[message["role"]], "message": message["content"]}


def _tool(function: Document) -> Document:
    schema = function.get("parameters") or {}
    parameters = {
        name: {"type": value.get("type", "str"), "required": name in schema.get("required", ())}
        for name, value in schema.get("properties", {}).items()
    }
    about = {"description": function["description"]} if function.get("description") else {}
    return {"name": function["name"], **about, "parameter_definitions": parameters}


adapter = ProviderAdapter("cohere:v1", CohereV1Decoder, request, bearer, lines)
