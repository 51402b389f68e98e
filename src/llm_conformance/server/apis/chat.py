"""OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.rules.violation import Blocked
from llm_conformance.server.apis.answer import Answer, Counts, ToolCall, count, inner, objects, text_of
from llm_conformance.server.apis.wire_api import Document, WireApi
from llm_conformance.server.framings.server_sent_events import SERVER_SENT_EVENTS
from llm_conformance.wire.framings.base import DONE

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""The names of the field with reasoning: DeepSeek's, then the name in OpenRouter and in current vLLM."""
_CONTENT = ("content", "refusal", "tool_calls", *REASONING_FIELDS)


@dataclass
class Choice(Answer):
    """A choice.

    Attributes:
        after_finish: The names of the content fields that a stream sends after the finish word.
        logprobs: What the answer says about each token.
    """

    index: Any = 0
    after_finish: list[str] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)


class Chat(WireApi):
    """OpenAI's chat completions."""

    name = "chat"
    row = ("local", "chat")
    path = "/chat/completions"
    framing = SERVER_SENT_EVENTS
    limits = ("max_tokens", "max_completion_tokens")
    cut = "length"
    calls = "tool_calls"
    call_type = "function"
    ended = "stop"
    stopped = "stop"
    has_seed = True
    last = "[DONE]"

    def asked(self, body: dict[str, Any], streamed: bool, usage: bool) -> dict[str, Any]:
        """Return a request with the fields that ask for a stream and for its token counts."""
        counted = {"stream_options": {"include_usage": True}} if usage else {}
        return {**body, "stream": True, **counted} if streamed else body

    def answers_asked(self, request: Document) -> int:
        """Return `n`."""
        return int(request.get("n", 1))

    def is_last(self, data: str) -> bool:
        """Return True for `[DONE]`."""
        return data == DONE

    def plain(self, document: Document) -> Sequence[Choice]:
        """Return the choices in the order in which they come."""
        return tuple(_of_message(entry) for entry in objects(document.get("choices")))

    def streamed(self, documents: Sequence[Document]) -> Sequence[Choice]:
        """Return the choices in the order in which they come."""
        found: dict[Any, Choice] = {}
        for chunk in documents:
            for entry in objects(chunk.get("choices")):
                index = entry.get("index")
                key = index if isinstance(index, int) else 0
                _read_delta(found.setdefault(key, Choice(index=key)), entry)
        return tuple(found.values())

    def counts(self, documents: Sequence[Document]) -> Counts:
        """Return the last counts."""
        usage = last_usage(documents)
        return Counts(count(usage, "prompt_tokens"), count(usage, "completion_tokens"))

    def id(self, documents: Sequence[Document]) -> Any:
        """Return the id of the first chunk, or of the plain document."""
        return documents[0].get("id")

    def tool_choice(self, request: Document) -> str | None:
        """Return `tool_choice`, or the name in it."""
        wanted = request.get("tool_choice")
        return wanted["function"]["name"] if isinstance(wanted, Mapping) else wanted

    def wants_one_call(self, request: Document) -> bool:
        """Return True for `parallel_tool_calls: false`."""
        return request.get("parallel_tool_calls") is False

    def stops(self, request: Document) -> Sequence[str]:
        """Return `stop`."""
        return request.get("stop") or ()

    def asks_for_json(self, request: Document) -> bool:
        """Return True for the response format `json_object`."""
        return inner(request, "response_format").get("type") == "json_object"

    def schema_asked(self, request: Document) -> Mapping[str, Any] | None:
        """Return the schema of the response format `json_schema`."""
        asked = inner(request, "response_format")
        return inner(asked, "json_schema").get("schema") if asked.get("type") == "json_schema" else None


def last_usage(documents: Sequence[Document]) -> Mapping[str, Any] | None:
    """Return the last object with token counts; None if there is none."""
    return next((each["usage"] for each in documents[::-1] if isinstance(each.get("usage"), Mapping)), None)


def _of_message(entry: Mapping[str, Any]) -> Choice:
    choice = Choice(index=entry.get("index"))
    message = entry.get("message")
    if not isinstance(message, Mapping):
        raise Blocked("a choice has no `message`; WIRE-7 reports that")
    _read_texts(choice, message)
    for number, call in enumerate(objects(message.get("tool_calls"))):
        choice.calls[number] = _add(ToolCall(), call)
    _read_finish(choice, entry)
    return choice


def _read_delta(choice: Choice, entry: Mapping[str, Any]) -> None:
    delta = entry.get("delta")
    if not isinstance(delta, Mapping):
        raise Blocked("a choice of a chunk has no `delta`; WIRE-8 reports that")
    if choice.finish:
        choice.after_finish += [name for name in _CONTENT if delta.get(name)]
    _read_texts(choice, delta)
    for call in objects(delta.get("tool_calls")):
        index = call.get("index")
        key = index if isinstance(index, int) else 0
        _add(choice.calls.setdefault(key, ToolCall()), call)
    _read_finish(choice, entry)


def _read_finish(choice: Choice, entry: Mapping[str, Any]) -> None:
    if isinstance(entry.get("finish_reason"), str):
        choice.finish.append(entry["finish_reason"])
        choice.is_cut = choice.is_cut or entry["finish_reason"] == Chat.cut
    logprobs = inner(entry, "logprobs").get("content")
    if isinstance(logprobs, list):
        choice.logprobs += logprobs


def _read_texts(choice: Choice, message: Mapping[str, Any]) -> None:
    content = message.get("content")
    if isinstance(content, str) and content:
        choice.texts.append(content)
    choice.is_refusal = choice.is_refusal or bool(message.get("refusal"))
    reasoning = next((message[name] for name in REASONING_FIELDS if isinstance(message.get(name), str)), "")
    if reasoning:
        choice.reasonings.append(reasoning)


def _add(call: ToolCall, piece: Mapping[str, Any]) -> ToolCall:
    """Add a piece to a call as clients do: texts that come twice are joined."""
    call.pieces.append(piece)
    function = inner(piece, "function")
    call.id += text_of(piece.get("id"))
    call.type = text_of(piece.get("type")) or call.type
    call.name += text_of(function.get("name"))
    call.arguments += text_of(function.get("arguments"))
    return call
