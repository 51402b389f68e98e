"""Gemini's Interactions API. A response is a list of steps: https://ai.google.dev/gemini-api/docs/interactions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Annotation, Call, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason

from ._answer import Answer, Block, utc_of_text
from ._errors import error_in_band
from ._media import Media
from ._provider import ProviderAdapter
from .gemini import headers

FINISH: Mapping[str, FinishReason] = {
    "completed": "stop",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "length",
    "failed": "error",
}
_MEDIA = ("image", "audio", "video", "document")
_SILENT = ("interaction.status_update", "interaction.in_progress", "step.stop")


class InteractionsDecoder:
    """Decodes an interaction, or the events that build it step by step."""

    def __init__(self, call: Call) -> None:
        self._answer = Answer(call)
        self._blocks: dict[object, Block] = {}
        self._starts: dict[object, int] = {}
        self._citations: list[tuple[object, Mapping[str, Any]]] = []
        self._texts: dict[object, str] = {}
        self._media = Media(self._answer)

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole interaction, or one event."""
        self._answer.raw_events.append(document)
        match document.get("event_type"):
            case None:
                self._feed_interaction(document)
                for index, step in enumerate(document["steps"]):
                    yield from self._feed_step(index, step)
            case "interaction.created" | "interaction.completed":
                self._feed_interaction(document["interaction"])
            case "step.start":
                yield from self._feed_step(document["index"], document["step"])
            case "step.delta":
                yield from self._feed_delta(document["index"], document["delta"])
            case "error":
                raise error_in_band(document.get("error"), self._answer.call)
            case kind if kind not in _SILENT:
                self._answer.keep(kind, document)

    def _feed_interaction(self, interaction: Mapping[str, Any]) -> None:
        answer = self._answer
        if interaction.get("error"):
            raise error_in_band(interaction["error"], answer.call)
        answer.id = interaction.get("id") or answer.id
        answer.model = interaction.get("model") or answer.model
        answer.created = answer.created or utc_of_text(interaction.get("created"))
        answer.raw_usage |= interaction.get("usage") or {}
        status = interaction.get("status")
        if status not in (None, "in_progress"):  # a stream may start without a status
            answer.raw_finish = status

    def _feed_step(self, index: int, step: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a whole step, or the start of one in a stream."""
        match step["type"]:
            case "model_output":
                for number, content in enumerate(step.get("content") or ()):
                    yield from self._feed_content(index if self._answer.call.stream else (index, number), content)
            case "thought":
                self._blocks[index] = self._answer.block("reasoning", index)
                self._sign(index, step.get("signature"))
                for content in step.get("summary") or ():
                    yield from self._answer.reasoning(content.get("text") or "", index)
            case "function_call":
                arguments = json.dumps(step["arguments"], ensure_ascii=False) if step.get("arguments") else ""
                yield from self._answer.tool(index, step["id"], step["name"], arguments)
                self._blocks[index] = self._answer.tools[index].block
                self._sign(index, step.get("signature"))
            case kind if kind.endswith("_call"):
                about = {"server_executed": True, "name": kind.removesuffix("_call"), "wire": dict(step)}
                self._blocks[index] = self._answer.block("tool_call", index, **about)
                self._sign(index, step.get("signature"))
            case kind:
                self._blocks[index] = self._answer.keep(kind, dict(step), index)
                self._sign(index, step.get("signature"))

    def _feed_content(self, key: object, content: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if content["type"] == "text":
            yield from self._feed_text(key, content["text"])
            self._citations += [(key, each) for each in content.get("annotations") or ()]
        elif content["type"] in _MEDIA and content.get("data"):
            yield from self._media.feed(content.get("mime_type"), content["data"])
        else:
            self._answer.keep(content["type"], content)

    def _feed_text(self, key: object, text: str) -> Iterator[StreamEvent]:
        self._starts.setdefault(key, len(self._answer.message))
        self._texts[key] = self._texts.get(key, "") + text
        yield from self._answer.text(text, key)

    def _feed_delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        match delta["type"]:
            case "text":
                yield from self._feed_text(index, delta["text"])
            case "text_annotation_delta" | "text_annotation":
                self._citations += [(index, each) for each in delta.get("annotations") or ()]
            case "thought_summary":
                yield from self._answer.reasoning((delta.get("content") or {}).get("text") or "", index)
            case "thought_signature":
                self._sign(index, delta.get("signature"))
            case "arguments_delta":
                yield from self._answer.tool(index, None, None, delta.get("arguments") or "")
            case kind if kind in _MEDIA and delta.get("data"):
                yield from self._media.feed(delta.get("mime_type"), delta["data"])
            case _ if index in self._blocks and "wire" in self._blocks[index].metadata:
                self._blocks[index].metadata["wire"] |= delta  # the input or the output of a hosted tool
                self._sign(index, delta.get("signature"))
            case kind:
                self._answer.keep(kind, delta)

    def _sign(self, index: object, signature: str | None) -> None:
        if signature:
            self._blocks[index].metadata["signature"] = signature

    def end(self) -> Iterator[StreamEvent]:
        """Yield the rest of the speech, then the citations.

        The offsets of a citation count UTF-8 bytes of the content that has this citation.
        """
        yield from self._media.end()
        for key, citation in self._citations:
            yield from self._answer.annotate(self._placed(key, citation))

    def _placed(self, key: object, citation: Mapping[str, Any]) -> Annotation:
        data = dict(citation)
        encoded = self._texts.get(key, "").encode("utf-8")
        start, end = data.pop("start_index", None) or 0, data.pop("end_index", None)
        if end is None or not 0 <= start <= end <= len(encoded):
            return Annotation(None, None, data)
        try:
            places = [len(encoded[:offset].decode("utf-8")) + self._starts[key] for offset in (start, end)]
        except UnicodeDecodeError:  # an offset inside a character
            return Annotation(None, None, data)
        return Annotation(places[0], places[1], data)

    @property
    def ended(self) -> bool:
        """Whether a final status has come."""
        return self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole interaction."""
        return self._answer.response(FINISH.get(self._answer.raw_finish or ""), self._usage())

    def _usage(self) -> Usage | None:
        """Return the usage. The API counts thoughts apart from the output, and tool use apart from the input."""
        raw = self._answer.raw_usage
        input, output = raw.get("total_input_tokens"), raw.get("total_output_tokens")
        if input is None and output is None and raw.get("total_tokens") is None:
            return None
        thought = raw.get("total_thought_tokens")
        return Usage(
            prompt_tokens=None if input is None else input + (raw.get("total_tool_use_tokens") or 0),
            completion_tokens=None if output is None else output + (thought or 0),
            total_tokens=raw.get("total_tokens"),
            cached_tokens=raw.get("total_cached_tokens"),
            reasoning_tokens=thought,
            raw=raw,
        )


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call. Its input is a list of steps."""
    system = [each["content"] for each in call.messages if isinstance(each, Mapping) and each["role"] == "system"]
    body: dict[str, Any] = {"model": call.model, "input": list(_steps(call)), **call.params}
    if system:
        body["system_instruction"] = "\n\n".join(system)
    if call.tools:
        body["tools"] = [*body.get("tools", ()), *({"type": "function", **tool["function"]} for tool in call.tools)]
    if call.stream:
        body["stream"] = True
    return body


def _steps(call: Call) -> Iterator[Mapping[str, Any]]:
    for message in call.messages:
        if isinstance(message, Response):
            yield from _sent_back(message)
        elif message["role"] == "tool":
            result = [{"type": "text", "text": message["content"]}]
            yield {"type": "function_result", "call_id": message["tool_call_id"], "result": result}
        elif message["role"] != "system":
            kind = "model_output" if message["role"] == "assistant" else "user_input"
            content = message["content"]
            yield {
                "type": kind,
                "content": [{"type": "text", "text": content}] if isinstance(content, str) else content,
            }


def _sent_back(response: Response) -> Iterator[Mapping[str, Any]]:
    """Yield an earlier response's steps with their signatures."""
    for segment in response.segments:
        about = segment.metadata
        signed = {"signature": about["signature"]} if "signature" in about else {}
        if str(about.get("type", "")).endswith("_result") or about.get("server_executed"):
            yield about["wire"]
        elif segment.type == "text":
            yield {"type": "model_output", "content": [{"type": "text", "text": segment.content}]}
        elif segment.type == "tool_call":
            call = {"id": about["id"], "name": about["name"], "arguments": json.loads(segment.content or "{}")}
            yield {"type": "function_call", **call, **signed}
        elif segment.type == "reasoning":
            summary = {"summary": [{"type": "text", "text": segment.content}]} if segment.content else {}
            yield {"type": "thought", **summary, **signed}


adapter = ProviderAdapter("gemini:interactions", InteractionsDecoder, request, headers)
