"""Amazon Bedrock's Converse, whose responses are lists of blocks.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from llm_conformance.contract import Annotation, Attachment, Call, LLMError, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason

from ._answer import Answer, Block
from ._errors import error_in_band

FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}


class ConverseDecoder:
    """Decodes a response, or the events that build it. A block ends where the next one begins.

    `cache_counts` names two counts: tokens that were read from the cache, and tokens that were written to it.
    """

    cache_counts: ClassVar[tuple[str, str]] = ("cacheReadInputTokens", "cacheWriteInputTokens")

    def __init__(self, call: Call) -> None:
        self._answer = Answer(call)
        self._index: object = None
        self._start = 0
        self._citations: list[Mapping[str, Any]] = []
        self._result: dict[str, Any] | None = None

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole response, or one event as `{type: payload}`."""
        self._answer.raw_events.append(document)
        if not self._answer.call.stream:
            for index, block in enumerate(document["output"]["message"]["content"]):
                yield from self._feed_block(index, block)
            self._feed_end(document)
            return
        for kind, event in document.items():
            yield from self._feed_event(kind, event)

    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        match kind:
            case "messageStart" | "contentBlockStop":
                pass
            case "contentBlockStart":
                yield from self._feed_block(event["contentBlockIndex"], event["start"])
            case "contentBlockDelta":
                yield from self._feed_delta(event["contentBlockIndex"], event["delta"])
            case "messageStop" | "metadata":
                self._feed_end(event)
            case _ if kind.endswith("Exception"):
                raise exception(kind, event, self._answer.call)
            case "error":
                raise error_in_band(event, self._answer.call)
            case _ if kind.startswith("amazon-bedrock-"):  # a field that Bedrock adds to an event
                pass
            case unknown:
                self._answer.keep(unknown, event)

    def _feed_end(self, end: Mapping[str, Any]) -> None:
        self._answer.raw_finish = end.get("stopReason") or self._answer.raw_finish
        self._answer.raw_usage |= end.get("usage") or {}

    def _feed_block(self, index: int, block: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a whole block, or the start of one."""
        yield from self._move_to(index)
        for kind, content in block.items():
            match kind:
                case "text":
                    yield from self._answer.text(content, index)
                case "reasoningContent":
                    yield from self._feed_reasoning(index, content.get("reasoningText") or content)
                case "toolUse":
                    yield from self._feed_tool(index, content)
                case "citationsContent":
                    self._citations += content.get("citations") or ()
                    for piece in content.get("content") or ():
                        yield from self._answer.text(piece.get("text") or "", index)
                case "image":
                    yield from self._feed_image(content)
                case "toolResult":  # the result of a tool that Bedrock runs; a stream has the content in deltas
                    self._result = dict(content)
                    self._answer.keep(kind, self._result, index)
                case unknown:
                    self._answer.keep(unknown, content, index)

    def _feed_delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        yield from self._move_to(index)
        for kind, piece in delta.items():
            match kind:
                case "text":
                    yield from self._answer.text(piece, index)
                case "reasoningContent":
                    yield from self._feed_reasoning(index, piece)
                case "toolUse" if index in self._answer.tools:
                    yield from self._answer.tool(index, None, None, piece["input"])
                case "toolUse":
                    self._answer.block("tool_call", index).content += piece["input"]
                case "citation":
                    self._citations.append(piece)
                case "image":
                    yield from self._feed_image(piece)
                case "toolResult" if self._result is not None:
                    self._result["content"] = [*self._result.get("content", ()), *piece]
                case unknown:
                    self._answer.keep(unknown, {unknown: piece})

    def _feed_reasoning(self, index: int, reasoning: Mapping[str, Any]) -> Iterator[StreamEvent]:
        block = self._answer.block("reasoning", index)
        yield from self._answer.reasoning(reasoning.get("text") or "", index)
        self._seal(block, "signature", reasoning.get("signature"))
        self._seal(block, "redacted", reasoning.get("redactedContent"))

    def _feed_image(self, image: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take an image, the format of an image, or bytes that belong to the last image."""
        images = self._answer.attachments
        if "format" in image or not images:
            kind, place = image.get("format"), len(self._answer.message)
            images.append(
                Attachment(id=f"media-{len(images)}", type=kind and f"image/{kind}", data="", text_index=place)
            )
        data = (image.get("source") or {}).get("bytes")
        if data:
            images[-1] = replace(images[-1], data=(images[-1].data or "") + data)
            yield StreamEvent("response.media", attachment={"id": images[-1].id, "type": images[-1].type, "data": data})

    def _seal(self, block: Block, name: str, sealed: str | None) -> None:
        if sealed:
            block.metadata[name] = sealed

    def _feed_tool(self, index: int, use: Mapping[str, Any]) -> Iterator[StreamEvent]:
        arguments = json.dumps(use["input"], ensure_ascii=False) if use.get("input") else ""
        if use.get("type") == "server_tool_use":
            about = {"server_executed": True, "id": use["toolUseId"], "name": use["name"]}
            self._answer.block("tool_call", index, **about).content = arguments
        else:
            yield from self._answer.tool(index, use["toolUseId"], use["name"], arguments)

    def _move_to(self, index: object) -> Iterator[StreamEvent]:
        """Begin a new block, and place the citations of the last block. They came before the text that they cover."""
        if index == self._index:
            return
        answer, end = self._answer, len(self._answer.message)
        for citation in self._citations:
            yield from answer.annotate(Annotation(self._start, end, citation))
        self._index, self._start, self._citations = index, end, []

    def end(self) -> Iterator[StreamEvent]:
        """Place the citations of the last block."""
        yield from self._move_to(None)

    @property
    def ended(self) -> bool:
        """Whether a stop reason has come."""
        return self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole response, which has no id."""
        return self._answer.response(FINISH.get(self._answer.raw_finish or ""), self._usage())

    def _usage(self) -> Usage | None:
        """Return the usage. The prompt is the sum of input tokens and tokens read from and written to the cache."""
        raw = self._answer.raw_usage
        if "inputTokens" not in raw and "outputTokens" not in raw:
            return None
        read, written = (raw.get(name) for name in self.cache_counts)
        prompt = None if raw.get("inputTokens") is None else raw["inputTokens"] + (read or 0) + (written or 0)
        completion = raw.get("outputTokens")
        total = None if prompt is None or completion is None else prompt + completion
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            total_tokens=raw.get("totalTokens", total),
            cached_tokens=read,
            cache_write_tokens=written,
            raw=raw,
        )


def exception(kind: str, event: Mapping[str, Any], call: Call) -> LLMError:
    """Return the error for an exception message of a stream."""
    return error_in_band({"type": _ERRORS.get(kind, kind), **event}, call)


_KEPT_BLOCKS = ("toolResult", "image", "document", "video", "guardContent", "cachePoint", "searchResult")
# Maps exceptions to the common error types. Other exceptions count as a 500.
_ERRORS = {
    "throttlingException": "rate_limit_error",
    "validationException": "invalid_request_error",
    "modelTimeoutException": "timeout_error",
}


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call, with content as blocks. The model is in the path."""
    body: dict[str, Any] = {"messages": list(_messages(call)), **call.params}
    system = [part for each in call.messages if _role(each) == "system" for part in _parts(each)]
    if system:
        body["system"] = system
    if call.tools:
        body["toolConfig"] = {**body.get("toolConfig", {}), "tools": [_tool(each["function"]) for each in call.tools]}
    return body


def _role(message: Any) -> str:
    return "assistant" if isinstance(message, Response) else str(message["role"])


def _tool(function: Mapping[str, Any]) -> Mapping[str, Any]:
    schema = function.get("parameters") or {"type": "object"}
    about = {"description": function["description"]} if function.get("description") else {}
    return {"toolSpec": {"name": function["name"], **about, "inputSchema": {"json": schema}}}


def _parts(message: Any) -> list[Any]:
    """Return a message's content as blocks. A list is already in Bedrock's form."""
    content = message["content"]
    return [{"text": content}] if isinstance(content, str) else content


def _messages(call: Call) -> Iterator[Mapping[str, Any]]:
    """Yield the messages. Consecutive tool results are one message of the user."""
    results: list[Mapping[str, Any]] = []
    for message in call.messages:
        if isinstance(message, Response):
            yield {"role": "assistant", "content": list(_blocks(message))}
        elif message["role"] == "tool":
            if not results:
                yield {"role": "user", "content": results}
            results.append({"toolResult": {"toolUseId": message["tool_call_id"], "content": _parts(message)}})
            continue
        elif message["role"] != "system":
            yield {**message, "content": _parts(message)}
        results = []


def _blocks(response: Response) -> Iterator[Mapping[str, Any]]:
    """Yield an earlier response's blocks unchanged and in order, because the signatures demand this."""
    for segment in response.segments:
        about = segment.metadata
        match segment.type:
            case "reasoning" if "redacted" in about:
                yield {"reasoningContent": {"redactedContent": about["redacted"]}}
            case "reasoning":
                signed = {"signature": about["signature"]} if about.get("signature") else {}
                yield {"reasoningContent": {"reasoningText": {"text": segment.content, **signed}}}
            case "text" if segment.content:
                yield {"text": segment.content}
            case "tool_call":
                kind = {"type": "server_tool_use"} if about.get("server_executed") else {}
                use = {"toolUseId": about["id"], "name": about["name"], "input": json.loads(segment.content or "{}")}
                yield {"toolUse": {**use, **kind}}
            case "other" if about.get("type") in _KEPT_BLOCKS:
                yield {about["type"]: about["wire"]}
