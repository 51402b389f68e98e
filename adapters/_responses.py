"""OpenAI's responses API. A response is a list of items: https://platform.openai.com/docs/api-reference/responses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from llm_conformance.contract import Annotation, Attachment, Call, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason

from . import _own_tools
from ._answer import Answer, Block, utc
from ._errors import error_in_band
from ._provider import ProviderAdapter, bearer
from ._think import ThinkSplitter

FINISH: Mapping[str, FinishReason] = {
    "completed": "stop",
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
    "failed": "error",
}
HOSTED = (
    *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"),
    *("mcp_call", "mcp_list_tools", "x_search_call", "tool_search_call", "shell_call", "program"),
)
_TERMINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_PROGRESS = tuple(f"response.{name}" for name in (*HOSTED, "apply_patch_call_operation_diff", "compaction.compacting"))
_REDUNDANT = (
    *("response.created", "response.in_progress", "response.queued", "keepalive"),
    *("response.content_part.added", "response.content_part.done", "response.output_text.done"),
    *("response.refusal.done", "response.reasoning_summary_part.added", "response.reasoning_summary_part.done"),
    *("response.reasoning_summary_text.done", "response.reasoning_part.added", "response.reasoning_part.done"),
    *("response.reasoning_text.done", "response.function_call_arguments.done", "response.custom_tool_call_input.done"),
)


class ResponsesDecoder:
    """Decodes a `response`, or the events that build one up."""

    def __init__(self, call: Call) -> None:
        self._answer = Answer(call)
        self._starts: dict[tuple[int, int], int] = {}
        self._phases: dict[int, str] = {}
        self._splitter = None if call.think_profile == "off" else ThinkSplitter(call.think_profile)
        self._citations: list[tuple[tuple[int, int], Mapping[str, Any]]] = []
        self._refused = False
        self._ended = False

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole response, or one event."""
        self._answer.raw_events.append(document)
        if document.get("object") == "response":
            self._feed_response(document)
            for index, item in enumerate(document["output"]):
                yield from self._feed_item(index, item)
        elif "type" not in document and document.get("error"):  # llama.cpp, in the form of chat completions
            raise error_in_band(document["error"], self._answer.call)
        else:
            yield from self._feed_event(document["type"], document)

    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        answer = self._answer
        index, part = _place(event)
        match kind:
            case "response.output_text.delta":
                yield from self._feed_text((index, part), event["delta"])
            case "response.output_text.annotation.added":
                self._citations.append(((index, part), event["annotation"]))
            case "response.refusal.delta":
                self._feed_refusal(event["delta"])
            case "response.reasoning_summary_text.delta":
                yield from answer.reasoning(event["delta"], (index, "summary", event["summary_index"]))
            case "response.reasoning_text.delta":
                yield from answer.reasoning(event["delta"], (index, "content", part))
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                yield from answer.tool(index, None, None, event["delta"])
            case "response.output_item.added":
                self._note_phase(index, event["item"])
                yield from self._feed_call(index, event["item"], "")
            case "response.output_item.done":
                yield from self._feed_late_call(index, event["item"])
                yield from self._feed_done(index, event["item"])
            case "error":
                raise error_in_band(event.get("error") or event, answer.call)
            case _ if kind in _TERMINAL:
                self._feed_response(event["response"])
                self._ended = True
            case _ if kind not in _REDUNDANT and not kind.startswith(_PROGRESS):
                self._answer.keep(kind, event)

    def _feed_response(self, response: Mapping[str, Any]) -> None:
        """Take the fields of a response except its output. The items of the output are fed one by one."""
        answer = self._answer
        if response.get("error"):
            raise error_in_band(response["error"], answer.call)
        answer.id = response["id"]
        answer.model = response.get("model") or answer.model
        answer.created = utc(int(response.get("created_at") or 0))
        answer.raw_finish = (response.get("incomplete_details") or {}).get("reason") or response["status"]
        answer.raw_usage = response.get("usage") or {}

    def _feed_item(self, index: int, item: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a whole item of a plain response."""
        self._note_phase(index, item)
        if item["type"] == "message":
            for number, part in enumerate(item["content"]):
                yield from self._feed_part((index, number), part)
        for name in ("summary", "content") if item["type"] == "reasoning" else ():
            for number, part in enumerate(item.get(name) or ()):
                yield from self._answer.reasoning(part["text"], (index, name, number))
        yield from self._feed_call(index, item, item.get("arguments") or item.get("input") or "")
        yield from self._feed_done(index, item)

    def _feed_part(self, key: tuple[int, int], part: Mapping[str, Any]) -> Iterator[StreamEvent]:
        match part["type"]:
            case "output_text":
                yield from self._feed_text(key, part["text"])
                for annotation in part.get("annotations") or ():
                    self._citations.append((key, annotation))
            case "refusal":
                self._feed_refusal(part["refusal"])
            case unknown:
                self._answer.keep(unknown, part)

    def _feed_done(self, index: int, item: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take what only a finished item has: encrypted content, and the whole call of a hosted tool."""
        kind = item["type"]
        if kind == "reasoning":
            self._seal(index, item.get("encrypted_content"))
        elif _own_tools.is_call(item):
            yield from self._answer.tool(index, item["call_id"], _own_tools.name(item), _own_tools.arguments(item))
            self._answer.tools[index].block.metadata["item"] = item
        elif kind in HOSTED:
            about = {"server_executed": True, "name": item.get("name") or kind, "item": item}
            self._answer.blocks.append(Block("tool_call", index, _arguments(item), about))
            if kind == "image_generation_call" and item.get("result"):
                yield from self._feed_image(item)
        elif kind not in ("message", "function_call", "custom_tool_call"):
            # For example a compaction or an approval request. The client has to act on these, but has no tool to run.
            self._answer.keep(kind, item).metadata["item"] = item

    def _feed_text(self, key: tuple[int, int], piece: str) -> Iterator[StreamEvent]:
        self._starts.setdefault(key, len(self._answer.message))
        if self._splitter and not self._has_native_reasoning():
            yield from self._answer.split(self._splitter, self._splitter.feed(piece))
            return
        yield from self._answer.text(piece, key)
        if piece and key[0] in self._phases:
            self._answer.blocks[-1].metadata["phase"] = self._phases[key[0]]

    def _has_native_reasoning(self) -> bool:
        return any(block.type == "reasoning" and block.metadata.get("source") != "tag" for block in self._answer.blocks)

    def _note_phase(self, index: int, item: Mapping[str, Any]) -> None:
        if item.get("phase"):
            self._phases[index] = item["phase"]

    def _placed(self, key: tuple[int, int], annotation: Mapping[str, Any]) -> Annotation:
        """Place an annotation. Its offsets count in its content part."""
        data = {name: value for name, value in annotation.items() if name not in ("start_index", "end_index")}
        start, end = annotation.get("start_index"), annotation.get("end_index")
        if start is None or end is None:
            return Annotation(None, None, data)
        base = self._starts[key]
        inside = 0 <= start <= end <= len(self._answer.message) - base
        return Annotation(base + start, base + end, data) if inside else Annotation(None, None, data)

    def _feed_refusal(self, piece: str) -> None:
        self._refused = True
        self._answer.block("other", "refusal", kind="refusal").content += piece

    def _feed_call(self, index: int, item: Mapping[str, Any], arguments: str) -> Iterator[StreamEvent]:
        if item["type"] in ("function_call", "custom_tool_call"):
            yield from self._answer.tool(index, item["call_id"], item["name"], arguments)
            tool = self._answer.tools[index]
            tool.type = "custom" if item["type"] == "custom_tool_call" else "function"
            if item.get("caller"):
                tool.block.metadata["caller"] = item["caller"]

    def _feed_late_call(self, index: int, item: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take what a finished call adds. Compatible servers may send all of its arguments only now."""
        tool = self._answer.tools.get(index)
        rest = "" if tool and tool.block.content else item.get("arguments") or item.get("input") or ""
        yield from self._feed_call(index, item, rest)

    def _feed_image(self, item: Mapping[str, Any]) -> Iterator[StreamEvent]:
        kind = f"image/{item.get('output_format') or 'png'}"
        image = Attachment(id=item.get("id"), type=kind, data=item["result"], text_index=len(self._answer.message))
        self._answer.attachments.append(replace(image, metadata={"wire": item["type"]}))
        yield StreamEvent("response.media", attachment={"id": image.id, "type": kind, "data": item["result"]})

    def _seal(self, index: int, encrypted: str | None) -> None:
        """Put encrypted reasoning on the last part of its item. If no reasoning is visible, put it on an empty part."""
        if not encrypted:
            return
        parts = [
            block
            for block in self._answer.blocks
            if block.type == "reasoning" and isinstance(block.key, tuple) and block.key[0] == index
        ]
        last = parts[-1] if parts else self._answer.block("reasoning", (index, "encrypted"))
        last.metadata["encrypted"] = encrypted

    def end(self) -> Iterator[StreamEvent]:
        """Place the annotations. In a stream, an annotation may come before its text."""
        if self._splitter:
            yield from self._answer.split(self._splitter, self._splitter.end())
        for key, annotation in self._citations:
            yield from self._answer.annotate(self._placed(key, annotation))

    @property
    def ended(self) -> bool:
        """Whether a terminal event has come."""
        return self._ended

    def response(self) -> Response:
        """Return the whole response."""
        finish = FINISH.get(self._answer.raw_finish or "")
        if self._refused:
            finish = "content_filter"
        elif finish == "stop" and self._answer.tools:
            finish = "tool_calls"
        return self._answer.response(finish, self._usage())

    def _usage(self) -> Usage | None:
        raw = self._answer.raw_usage
        if not raw:
            return None
        return Usage(
            prompt_tokens=raw.get("input_tokens"),
            completion_tokens=raw.get("output_tokens"),
            total_tokens=raw.get("total_tokens"),
            cached_tokens=(raw.get("input_tokens_details") or {}).get("cached_tokens"),
            cache_write_tokens=(raw.get("input_tokens_details") or {}).get("cache_write_tokens"),
            reasoning_tokens=(raw.get("output_tokens_details") or {}).get("reasoning_tokens"),
            raw=raw,
        )


def _arguments(item: Mapping[str, Any]) -> str:
    """Return the arguments of a hosted call as text. A search for tools has an object."""
    arguments = item.get("arguments") or ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call, with messages as input items and flat tools."""
    body: dict[str, Any] = {"model": call.model, "input": list(_items(call)), **call.params}
    if call.tools:
        own = [{"type": "function", **tool["function"]} for tool in call.tools]
        body["tools"] = [*body.get("tools", ()), *own]
    if call.stream:
        body["stream"] = True
    return body


def _items(call: Call) -> Iterator[Mapping[str, Any]]:
    kinds: dict[str | None, str] = {}
    callers: dict[str | None, Mapping[str, Any]] = {}  # the result of a program's call repeats its caller
    for message in call.messages:
        if isinstance(message, Response):
            items = list(_sent_back(message))
            kinds |= {item["call_id"]: item["type"] for item in items if "call_id" in item}
            callers |= {item["call_id"]: {"caller": item["caller"]} for item in items if item.get("caller")}
            yield from items
            continue
        if message["role"] == "tool":
            id = message["tool_call_id"]
            yield {**_own_tools.result(kinds.get(id, "function_call"), id, message["content"]), **callers.get(id, {})}
            continue
        if message.get("content"):
            yield {"role": message["role"], "content": message["content"]}
        for tool_call in message.get("tool_calls") or ():
            if tool_call.get("type") == "custom":
                kinds[tool_call["id"]] = "custom_tool_call"
                yield {"type": "custom_tool_call", "call_id": tool_call["id"], **tool_call["custom"]}
            else:
                yield {"type": "function_call", "call_id": tool_call["id"], **tool_call["function"]}


def _sent_back(response: Response) -> Iterator[Mapping[str, Any]]:
    """Yield an earlier response as items. The API ignores reasoning without encrypted content, so it is left out."""
    summary: list[Mapping[str, Any]] = []
    calls = {tool_call.id: tool_call for tool_call in response.tool_calls}
    for segment in response.segments:
        about = segment.metadata
        if segment.type == "reasoning":
            summary += [{"type": "summary_text", "text": segment.content}] if segment.content else []
            if "encrypted" in about:
                yield {"type": "reasoning", "summary": summary, "encrypted_content": about["encrypted"]}
                summary = []
            continue
        summary = []
        if segment.type == "text":
            phase = {"phase": about["phase"]} if "phase" in about else {}
            yield {"role": "assistant", "content": segment.content, **phase}
        elif "item" in about:
            yield about["item"]
        elif segment.type == "tool_call":
            tool_call = calls[about["id"]]
            is_custom = tool_call.type == "custom"
            kind, field = ("custom_tool_call", "input") if is_custom else ("function_call", "arguments")
            caller = {"caller": about["caller"]} if "caller" in about else {}
            yield {"type": kind, "call_id": tool_call.id, "name": tool_call.name, field: tool_call.arguments, **caller}


def _place(event: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return (item, content part) of an event by their indexes.

    Without an index (llama.cpp), the item is found by its id.
    """
    index = event.get("output_index")
    if index is None:
        index = event.get("item_id") or (event.get("item") or {}).get("id")
    return index, event.get("content_index")


def responses_adapter(provider: str, headers: Callable[[Call], Mapping[str, str]] = bearer) -> ProviderAdapter:
    """Return the adapter of a provider with a responses API. `headers` returns the headers with the key."""
    return ProviderAdapter(f"{provider}:responses", ResponsesDecoder, request, headers)
