"""Ollama's chat: https://docs.ollama.com/api/chat."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llm_conformance.server.apis.answer import Answer, Counts, ToolCall, count, inner, objects, text_of
from llm_conformance.server.apis.wire_api import Document, WireApi
from llm_conformance.server.framings.json_lines import JSON_LINES


class Ollama(WireApi):
    """Ollama's chat."""

    name = "ollama"
    row = ("ollama", "chat")
    path = "/api/chat"
    framing = JSON_LINES
    limits = ("num_predict",)
    cut = "length"
    call_type = ""
    calls_have_ids = False
    ended = "stop"
    stopped = "stop"
    has_seed = True
    last = "an object with `done: true`"

    def asked(self, body: dict[str, Any], streamed: bool, usage: bool) -> dict[str, Any]:
        """Return a request that says whether it asks for a stream.

        It says so even for a plain answer, as the default is a stream.
        """
        return {**body, "stream": streamed}

    def with_settings(self, body: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with settings among its options."""
        return {**body, "options": {**inner(body, "options"), **settings}}

    def with_params(self, body: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with further fields. Their `options` are merged into the `options` of the request."""
        options = inner(params, "options")
        return {**body, **params, "options": {**inner(body, "options"), **options}}

    def limit(self, request: Document) -> int:
        """Return `num_predict`; 0 if it is absent."""
        return count(inner(request, "options"), self.limits[0]) or 0

    def is_last(self, data: str) -> bool:
        """Return True for an object with `done: true`, and for an error, which ends a stream, too."""
        if '"done"' not in data and '"error"' not in data:
            return False
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            return False
        return isinstance(document, Mapping) and (document.get("done") is True or self.is_error(document))

    def plain(self, document: Document) -> Sequence[Answer]:
        """Return the message."""
        return self.streamed((document,))

    def streamed(self, documents: Sequence[Document]) -> Sequence[Answer]:
        """Return the content of all messages together. Calls are always whole."""
        answer = Answer()
        for document in documents:
            message = inner(document, "message")
            answer.texts += [message["content"]] if text_of(message.get("content")) else []
            answer.reasonings += [message["thinking"]] if text_of(message.get("thinking")) else []
            for call in objects(message.get("tool_calls")):
                answer.calls[len(answer.calls)] = _call(call)
            answer.end(document.get("done_reason"), self.cut)
        return (answer,)

    def counts(self, documents: Sequence[Document]) -> Counts:
        """Return the counts of the last object."""
        last = documents[-1]
        return Counts(count(last, "prompt_eval_count"), count(last, "eval_count"))

    def id(self, documents: Sequence[Document]) -> Any:
        """Return None, because the answers of this format have no id."""
        return None

    def tool_choice(self, request: Document) -> str | None:
        """Return None, because no request can state it."""
        return None

    def wants_one_call(self, request: Document) -> bool:
        """Return False, because no request can state it."""
        return False

    def stops(self, request: Document) -> Sequence[str]:
        """Return `stop` of the options."""
        return inner(request, "options").get("stop") or ()

    def asks_for_json(self, request: Document) -> bool:
        """Return True for the format `json`."""
        return request.get("format") == "json"

    def schema_asked(self, request: Document) -> Mapping[str, Any] | None:
        """Return the format, if it is a schema."""
        return inner(request, "format") or None


def before_the_last(documents: Sequence[Document]) -> Iterable[tuple[str, Document]]:
    """Yield (place, document) of each object of a stream except the last."""
    yield from ((f"event {number}", document) for number, document in enumerate(documents[:-1], start=1))


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = inner(call, "function")
    arguments = json.dumps(function.get("arguments"), ensure_ascii=False)
    return ToolCall(text_of(call.get("id")), "", text_of(function.get("name")), arguments, [call])
