"""OpenAI's responses: https://platform.openai.com/docs/api-reference/responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llm_conformance.server.apis.answer import Answer, Counts, ToolCall, count, inner, objects, text_of
from llm_conformance.server.apis.wire_api import Document, WireApi
from llm_conformance.server.framings.server_sent_events import SERVER_SENT_EVENTS
from llm_conformance.wire.framings.base import DONE

LAST = ("response.completed", "response.incomplete", "response.failed")
"""The events that have the whole response."""
_REASONING = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")


class Responses(WireApi):
    """OpenAI's responses."""

    name = "responses"
    row = ("local", "responses")
    path = "/responses"
    framing = SERVER_SENT_EVENTS
    limits = ("max_output_tokens",)
    cut = "max_output_tokens"
    call_type = "function_call"
    ended = "completed"
    last = "response.completed"
    last_types = (*LAST, "error")
    behind_last = DONE

    def filled(self, body: dict[str, Any], times: int) -> dict[str, Any]:
        """Return a request with a text that is repeated `times` times."""
        return {**body, "input": body["input"] * times}

    def is_error(self, document: Any) -> bool:
        """Return True for an error, an event `error`, and a response that has failed."""
        if not isinstance(document, Mapping):
            return False
        failed = inner(document, "response").get("error") or document.get("type") == "error"
        return bool(failed) or super().is_error(document)

    def plain(self, document: Document) -> Sequence[Answer]:
        """Return the content of the output's items."""
        answer = Answer()
        for number, item in enumerate(objects(document.get("output"))):
            parts = [*objects(item.get("content")), *objects(item.get("summary"))]
            texts = [part["text"] for part in parts if text_of(part.get("text"))]
            if item.get("type") == "message":
                answer.texts += texts
                answer.is_refusal = answer.is_refusal or any(part.get("type") == "refusal" for part in parts)
            elif item.get("type") == "reasoning":
                answer.reasonings += texts
            elif item.get("type") == self.call_type:
                answer.calls[number] = _call(item)
        answer.end(_word(document), self.cut)
        return (answer,)

    def streamed(self, documents: Sequence[Document]) -> Sequence[Answer]:
        """Return the content of the deltas. The events that repeat this content when an item is done are ignored."""
        answer = Answer()
        for event in documents:
            kind, delta = event.get("type"), text_of(event.get("delta"))
            if kind == "response.output_text.delta" and delta:
                answer.texts.append(delta)
            elif kind in _REASONING and delta:
                answer.reasonings.append(delta)
            elif kind == "response.refusal.delta":
                answer.is_refusal = True
            elif kind == "response.output_item.added" and inner(event, "item").get("type") == self.call_type:
                item = inner(event, "item")
                answer.calls[item.get("id")] = _call(item)
            elif kind == "response.function_call_arguments.delta" and event.get("item_id") in answer.calls:
                answer.calls[event["item_id"]].arguments += delta
            elif kind in LAST:
                answer.end(_word(inner(event, "response")), self.cut)
        return (answer,)

    def counts(self, documents: Sequence[Document]) -> Counts:
        """Return the counts of the whole response."""
        usage = usage_of(documents)
        return Counts(count(usage, "input_tokens"), count(usage, "output_tokens"))

    def id(self, documents: Sequence[Document]) -> Any:
        """Return the id of the response."""
        return _response(documents[0]).get("id")

    def tool_choice(self, request: Document) -> str | None:
        """Return `tool_choice`, or the name in it."""
        wanted = request.get("tool_choice")
        return wanted["name"] if isinstance(wanted, Mapping) else wanted

    def wants_one_call(self, request: Document) -> bool:
        """Return True for `parallel_tool_calls: false`."""
        return request.get("parallel_tool_calls") is False

    def asks_for_json(self, request: Document) -> bool:
        """Return True for the text format `json_object`."""
        return _text_format(request).get("type") == "json_object"

    def schema_asked(self, request: Document) -> Mapping[str, Any] | None:
        """Return the schema of the text format `json_schema`."""
        asked = _text_format(request)
        return asked.get("schema") if asked.get("type") == "json_schema" else None


def usage_of(documents: Sequence[Document]) -> Mapping[str, Any]:
    """Return the token counts of the whole response; an empty object if there are none."""
    return inner(_response(documents[-1]), "usage")


def _response(document: Document) -> Document:
    return inner(document, "response") if "response" in document else document


def _text_format(request: Document) -> Mapping[str, Any]:
    return inner(inner(request, "text"), "format")


def _call(item: Mapping[str, Any]) -> ToolCall:
    id, kind, name, arguments = (text_of(item.get(field)) for field in ("call_id", "type", "name", "arguments"))
    return ToolCall(id, kind, name, arguments, [item])


def _word(response: Document) -> Any:
    return inner(response, "incomplete_details").get("reason") or response.get("status")
