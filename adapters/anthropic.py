"""Anthropic messages, lists of typed blocks, and its OpenAI-compatible chat: https://docs.anthropic.com/en/api/messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llm_conformance.contract import Annotation, Call, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason

from ._answer import Answer, Block
from ._chat import chat_adapter
from ._completions import Maker, Piece, completions_adapter
from ._dialect import Dialect
from ._errors import error_in_band
from ._provider import ProviderAdapter

FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}

HOSTED = ("server_tool_use", "mcp_tool_use")
"""Types of calls that Anthropic answers itself, with its own tools or those of an MCP server."""


class MessagesDecoder:
    """Decodes a `message`, or the events that build one up."""

    def __init__(self, call: Call) -> None:
        self._answer = Answer(call)
        self._block: Block | None = None
        self._start = 0
        self._citations: list[Mapping[str, Any]] = []
        self._stopped = False

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole message, or one event."""
        self._answer.raw_events.append(document)
        match document["type"]:
            case "message":
                yield from self._feed_message(document, document["content"])
            case "message_start":
                message = document["message"]
                yield from self._feed_message(message, message.get("content") or ())
            case "content_block_start":
                yield from self._feed_start(document["index"], document["content_block"])
            case "content_block_delta":
                yield from self._feed_delta(document["index"], document["delta"])
            case "content_block_stop":
                yield from self._feed_stop()
            case "message_delta":
                self._answer.raw_finish = document["delta"].get("stop_reason") or self._answer.raw_finish
                self._feed_usage(document.get("usage"))
            case "message_stop":
                self._stopped = True
            case "ping":
                pass
            case "error":
                raise error_in_band(document["error"], self._answer.call)
            case _ if isinstance(document.get("code"), int) and "message" in document:
                raise error_in_band(document, self._answer.call)  # llama.cpp sends the error itself as the data
            case unknown:
                self._answer.keep(unknown, document)

    def _feed_message(self, message: Mapping[str, Any], content: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        """Take a message.

        In a stream, `message_start` may have the whole message, for example with a pending call. Nothing is then left
        to stream.
        """
        self._answer.id = message["id"]
        self._answer.model = message.get("model") or self._answer.model
        self._answer.raw_finish = message.get("stop_reason")
        self._feed_usage(message.get("usage"))
        for index, block in enumerate(content):
            yield from self._feed_start(index, block)
            yield from self._feed_stop()

    def _feed_usage(self, usage: Mapping[str, Any] | None) -> None:
        """Keep the last value of each count.

        The counts of a stream are cumulative, and some are only in `message_start`.
        """
        self._answer.raw_usage |= {key: value for key, value in (usage or {}).items() if value is not None}

    def _feed_start(self, index: int, block: Mapping[str, Any]) -> Iterator[StreamEvent]:
        answer = self._answer
        self._start = len(answer.message)
        self._citations = list(block.get("citations") or ())
        match block["type"]:
            case "text":
                yield from answer.text(block["text"], index)
            case "thinking":
                self._block = answer.block("reasoning", index)
                self._sign(block.get("signature"))
                yield from answer.reasoning(block["thinking"], index)
            case "redacted_thinking":
                self._block = answer.block("reasoning", index, redacted=block["data"])
            case "tool_use":
                yield from answer.tool(index, block["id"], block["name"], _arguments(block.get("input")))
                answer.tools[index].block.metadata["wire"] = _but_input(block)
            case kind if kind in HOSTED:
                about = {"id": block["id"], "name": block["name"], "wire": _but_input(block)}
                self._block = answer.block("tool_call", index, server_executed=True, **about)
                self._block.content = _arguments(block["input"])
            case "fallback":  # another model answers, because the first model declined
                answer.model = block["to"]["model"]
                self._block = answer.keep("fallback", block, index)
            case kind:
                self._block = answer.keep(kind, dict(block), index)

    def _feed_delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        match delta["type"]:
            case "text_delta":
                yield from self._answer.text(delta["text"], index)
            case "thinking_delta":
                yield from self._answer.reasoning(delta["thinking"], index)
            case "signature_delta":
                self._sign(delta["signature"])
            case "citations_delta":
                self._citations.append(delta["citation"])
            case "compaction_delta":
                self._compact(delta)
            case "input_json_delta":
                if index in self._answer.tools:
                    yield from self._answer.tool(index, None, None, delta["partial_json"])
                elif self._block is not None:
                    self._block.content += delta["partial_json"]
            case unknown:
                self._answer.keep(unknown, delta)

    def _feed_stop(self) -> Iterator[StreamEvent]:
        """Place the block's citations. They came before the text that they cover."""
        for citation in self._citations:
            yield from self._answer.annotate(Annotation(self._start, len(self._answer.message), citation))

    def _sign(self, signature: str | None) -> None:
        if signature and self._block is not None:
            self._block.metadata["signature"] = signature

    def _compact(self, delta: Mapping[str, Any]) -> None:
        """Add to a compaction block, which goes back unchanged. If its summary stays null, the summary failed."""
        if self._block is None:
            return
        block = self._block.metadata["wire"]
        for key, value in delta.items():
            if key == "content" and value is not None:
                block[key] = (block.get(key) or "") + value
            elif key != "type" and value is not None:
                block[key] = value

    def end(self) -> Iterator[StreamEvent]:
        """Yield nothing: no text is held back."""
        yield from ()

    @property
    def ended(self) -> bool:
        """Whether a stop reason or `message_stop` has come."""
        return self._stopped or self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole message."""
        return self._answer.response(FINISH.get(self._answer.raw_finish or ""), self._usage())

    def _usage(self) -> Usage | None:
        """Return the usage. The prompt is the sum of input tokens and tokens read from and written to the cache."""
        raw = self._answer.raw_usage
        if "input_tokens" not in raw and "output_tokens" not in raw:
            return None
        read, written = raw.get("cache_read_input_tokens"), raw.get("cache_creation_input_tokens")
        prompt = None if raw.get("input_tokens") is None else raw["input_tokens"] + (read or 0) + (written or 0)
        completion = raw.get("output_tokens")
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            total_tokens=None if prompt is None or completion is None else prompt + completion,
            cached_tokens=read,
            cache_write_tokens=written,
            reasoning_tokens=(raw.get("output_tokens_details") or {}).get("thinking_tokens"),
            raw=raw,
        )


def _arguments(input: Mapping[str, Any] | None) -> str:
    """Return a tool's input as JSON text; "" for an empty input, such as the one with which a stream starts."""
    return json.dumps(input, ensure_ascii=False) if input else ""


def _but_input(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call's block without its input. It may say who called (`caller`) or on which server (`server_name`)."""
    return {key: value for key, value in block.items() if key != "input"}


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call, with `system` and with an `input_schema` for each tool."""
    system = [each["content"] for each in call.messages if isinstance(each, Mapping) and each["role"] == "system"]
    body: dict[str, Any] = {
        "model": call.model,
        "max_tokens": 4096,
        "messages": list(_messages(call)),
        **call.params,
    }
    if system:
        body["system"] = system[0] if len(system) == 1 else "\n\n".join(system)
    if call.tools:
        functions = (tool["function"] for tool in call.tools)
        own = [
            {
                "name": function["name"],
                "description": function.get("description", ""),
                "input_schema": function.get("parameters", {"type": "object"}),
            }
            for function in functions
        ]
        body["tools"] = [*body.get("tools", ()), *own]
    if call.stream:
        body["stream"] = True
    return body


def _messages(call: Call) -> Iterator[Mapping[str, Any]]:
    """Yield the messages. Consecutive tool results are one message of the user."""
    results: list[Mapping[str, Any]] = []
    for message in call.messages:
        if isinstance(message, Response):
            yield {"role": "assistant", "content": list(_blocks(message))}
        elif message["role"] == "tool":
            if not results:
                yield {"role": "user", "content": results}
            results.append(
                {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            )
            continue
        elif message["role"] != "system":
            yield message
        results = []


def _blocks(response: Response) -> Iterator[Mapping[str, Any]]:
    """Yield an earlier response's blocks unchanged and in order, because the signatures demand this."""
    for segment in response.segments:
        about = segment.metadata
        match segment.type:
            case "reasoning" if "redacted" in about:
                yield {"type": "redacted_thinking", "data": about["redacted"]}
            case "reasoning":
                yield {"type": "thinking", "thinking": segment.content, "signature": about.get("signature", "")}
            case "text" if segment.content:
                yield {"type": "text", "text": segment.content}
            case "tool_call":
                yield {**about["wire"], "input": json.loads(segment.content or "{}")}
            case "other" if "wire" in about:
                yield about["wire"]


def headers(call: Call) -> dict[str, str]:
    """Return the headers with the key and the version."""
    return {"x-api-key": call.api_key, "anthropic-version": "2023-06-01"}


def messages_adapter(provider: str) -> ProviderAdapter:
    """Return the adapter of a provider with Anthropic's API."""
    return ProviderAdapter(f"{provider}:messages", MessagesDecoder, request, headers)


def completion_event(document: Mapping[str, Any]) -> Piece | None:
    """Return the content of a text completion or of one of its events; None for a ping."""
    if document.get("type") == "ping":
        return None
    return Piece(document["completion"], document.get("stop_reason"))


COMPLETION = Maker(completion_event, {"stop_sequence": "stop", "max_tokens": "length"})

adapters = (
    messages_adapter("anthropic"),
    chat_adapter("anthropic", Dialect()),
    completions_adapter("anthropic:complete", COMPLETION, headers),
)
