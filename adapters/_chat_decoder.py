"""Decode OpenAI-shaped chat completions: the message in `choices`, or the deltas that build it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llm_conformance.contract import Annotation, Attachment, Call, Response, StreamEvent
from llm_conformance.contract.response import FinishReason

from ._answer import Answer, utc
from ._counting import at
from ._details import Details, text_of
from ._dialect import Dialect
from ._errors import error_in_band
from ._think import ThinkSplitter

AUDIO_TYPES = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "flac": "audio/flac",
    "opus": "audio/opus",
    "pcm16": "audio/pcm",
}
FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


class ChatDecoder:
    """Decodes a `chat.completion`, or its chunks."""

    def __init__(self, call: Call, dialect: Dialect) -> None:
        self._dialect = dialect
        self._answer = Answer(call)
        self._details = Details(self._answer)
        self._splitter = ThinkSplitter(call.think_profile, dialect.think_tag)
        self._has_native_reasoning = False
        self._refused = False
        self._citations: list[Mapping[str, Any]] = []
        self._sources: Sequence[Any] = ()
        # A chunk may also have the message so far, and a completion may have an empty delta. So only one of them is
        # read.
        self._place = "delta" if call.stream else "message"
        self._open_calls: dict[object, tuple[object, str | int | None]] = {}

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole completion, or one chunk."""
        self._answer.raw_events.append(document)
        yield from self._feed_completion(document)

    def _feed_completion(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        answer = self._answer
        self._raise_error(self._dialect.own_error(document))
        self._feed_facts(document.get(self._dialect.extension) or {})
        self._feed_facts(document)
        answer.id = answer.id or document.get("id")
        answer.request_id = answer.request_id or document.get("request_id")
        answer.created = answer.created or utc(document.get("created"))
        answer.model = document.get("model") or answer.model
        lists = (document[name] for name in self._dialect.sources if document.get(name))
        self._sources = next(lists, self._sources)
        for choice in document["choices"]:
            if choice.get("index"):
                answer.extras.setdefault("other_choices", []).append(choice)
            else:  # choices without an index are parts of one response
                self._feed_facts(choice)
                yield from self._feed_message(choice.get(self._place) or {})
                answer.raw_finish = choice.get("finish_reason") or answer.raw_finish

    def _feed_facts(self, place: Mapping[str, Any]) -> None:
        """Take the error and the usage from a completion, its extension or its choices."""
        self._raise_error(place.get("error"))
        usage = place.get("usage") or {}
        self._answer.raw_usage |= {key: value for key, value in usage.items() if value is not None}

    def _raise_error(self, error: Any) -> None:
        if error:
            raise error_in_band(error, self._answer.call, self._dialect.error_codes)

    def _feed_message(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        reasoning = next((message[name] for name in self._dialect.reasoning if message.get(name)), "")
        if isinstance(reasoning, list):  # steps
            reasoning = "".join(step.get("thought") or "" for step in reasoning)
        yield from self._feed_reasoning(reasoning, message.get("reasoning_details") or ())
        for hosted in message.get(self._dialect.hosted_calls) or ():
            self._feed_hosted_call(hosted)
        yield from self._feed_content(message.get("content"))
        calls = message.get("tool_calls") or ()
        signature = self._signature(message)
        if signature and (message.get("content") or not calls):
            self._answer.block("text").metadata["signature"] = signature
            signature = None
        if message.get("refusal"):
            self._refused = True
            self._answer.block("other", "refusal", kind="refusal").content += message["refusal"]
        if calls and not self._has_native_reasoning:  # the held-back text comes before the call
            yield from self._answer.split(self._splitter, self._splitter.end())
        yield from self._feed_calls(calls, signature)
        if _has_content(message.get("function_call")):  # the predecessor of tool calls, without an id
            yield from self._feed_call("function_call", None, message["function_call"])
        self._citations += message.get("annotations") or ()
        if _has_content(message.get("audio")):
            yield self._feed_audio(message["audio"])
        for image in message.get("images") or ():
            yield self._feed_image(image["image_url"]["url"])
        self._seal("encrypted", message.get(self._dialect.sealed))

    def _feed_reasoning(self, reasoning: str, details: Sequence[Mapping[str, Any]] = ()) -> Iterator[StreamEvent]:
        if (reasoning or any(map(text_of, details))) and not self._has_native_reasoning:
            yield from self._answer.split(self._splitter, self._splitter.end())
            self._has_native_reasoning = True
        yield from self._details.feed(reasoning, details)

    def _seal(self, name: str, value: str | None) -> None:
        """Put opaque data on the last reasoning block. If no reasoning is visible, put it on an empty block."""
        if value:
            shown = [block for block in self._answer.blocks if block.type == "reasoning"]
            block = shown[-1] if shown else self._answer.block("reasoning")
            block.metadata[name] = value

    def _signature(self, place: Mapping[str, Any]) -> Any:
        return at(place, self._dialect.signature)

    def _feed_hosted_call(self, hosted: Mapping[str, Any]) -> None:
        """Take a call of a hosted tool. A stream repeats the call when it has an output."""
        key = ("hosted", hosted["index"])
        blocks = (block for block in self._answer.blocks if block.key == key)
        block = next(blocks, None) or self._answer.block("tool_call", key)
        block.content = hosted.get("arguments") or ""
        block.metadata = {"server_executed": True, "name": hosted["type"], "wire": hosted}

    def _feed_calls(self, calls: Sequence[Mapping[str, Any]], signature: Any) -> Iterator[StreamEvent]:
        """Take tool calls, or pieces of them. The signature of a message belongs to its first call."""
        for position, call in enumerate(calls):
            index, id = call.get("index"), call.get("id")
            if id == "null":  # Mistral may send "null" for no id
                id = None
            key = self._key(position if index is None else index, id)
            custom = call.get("custom") or {}
            if _has_content(custom):
                yield from self._answer.tool(key, id, custom.get("name"), custom.get("input") or "")
                self._answer.tools[key].type = "custom"
            else:
                yield from self._feed_call(key, id, call.get("function") or {})
            if signature := self._signature(call) or signature:
                self._answer.tools[key].block.metadata["signature"] = signature
            signature = None

    def _key(self, index: object, id: str | int | None) -> object:
        """Return the key of the call to which a piece belongs. All calls of a response may have the same index."""
        key = self._open_calls.get(index)
        if key is None or (id and self._answer.tools[key].id not in (None, str(id))):
            key = self._open_calls[index] = (index, id)
        return key

    def _feed_call(self, key: object, id: str | int | None, function: Mapping[str, Any]) -> Iterator[StreamEvent]:
        yield from self._answer.tool(key, id, function.get("name"), function.get("arguments") or "")

    def _feed_content(self, content: Any) -> Iterator[StreamEvent]:
        """Take the content: text, a list of parts, or any other JSON value if JSON was requested."""
        if isinstance(content, list):
            for part in content:
                yield from self._feed_part(part)
            return
        if content is None:
            return
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        if self._has_native_reasoning:  # then tags in the text are part of the message
            yield from self._answer.text(text)
        else:
            yield from self._answer.split(self._splitter, self._splitter.feed(text))

    def _feed_part(self, part: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a content part. A thinking part is itself a list of parts, some of which may have no text."""
        match part["type"]:
            case "text":
                yield from self._feed_content(part["text"])
            case "thinking":
                for each in part["thinking"]:
                    yield from self._feed_thought(each)
                self._seal("signature", part.get("signature"))
            case "reasoning":
                yield from self._feed_reasoning("", part.get("summary") or ())
            case "reference" | "tool_reference":
                self._citations.append(part)
            case kind:
                self._answer.keep(kind, part)

    def _feed_thought(self, part: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a part of the thinking: a text or a source. A source has no place in the message."""
        if part["type"] == "text":
            yield from self._feed_reasoning(part["text"])
        else:
            yield from self._feed_part(part)

    def _feed_audio(self, audio: Mapping[str, Any]) -> StreamEvent:
        answer = self._answer
        if not answer.attachments:
            form: Any = (answer.call.params.get("audio") or {}).get("format")
            answer.attachments.append(Attachment(type=AUDIO_TYPES.get(form), text_index=len(answer.message)))
        whole = answer.attachments[0]
        answer.attachments[0] = replace(
            whole,
            id=whole.id or audio.get("id"),
            data=(whole.data or "") + (audio.get("data") or ""),
            transcript=(whole.transcript or "") + (audio.get("transcript") or ""),
            expires_at=audio.get("expires_at") or whole.expires_at,
        )
        piece = {"id": answer.attachments[0].id, "type": whole.type}
        piece |= {name: audio[name] for name in ("data", "transcript") if audio.get(name)}
        return StreamEvent("response.media", attachment=piece)

    def _feed_image(self, url: str) -> StreamEvent:
        """Take an image. Its URL is usually a data URL."""
        inline = re.fullmatch(r"data:([^;,]+);base64,(.*)", url)
        fields = {"type": inline[1], "data": inline[2]} if inline else {"url": url}
        fields["id"] = f"media-{len(self._answer.attachments)}"
        self._answer.attachments.append(Attachment(**fields, text_index=len(self._answer.message)))
        return StreamEvent("response.media", attachment=fields)

    def end(self) -> Iterator[StreamEvent]:
        """Release held-back text, and place the annotations. To place them, the whole text has to be known."""
        if not self._has_native_reasoning:
            yield from self._answer.split(self._splitter, self._splitter.end())
        for citation in self._citations:
            yield from self._answer.annotate(self._placed(citation))
        for source in self._sources:
            data = source if isinstance(source, Mapping) else {"url": source}
            yield from self._answer.annotate(Annotation(None, None, data))

    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        """Flatten `{"type": T, T: {...}}`. Offsets count code points of the content with its think blocks."""
        kind = str(citation.get("type"))
        own = {key: value for key, value in citation.items() if key != kind}
        data = {**own, **(citation.get(kind) or {})}
        start, end = data.pop("start_index", None), data.pop("end_index", None)
        if start is None or end is None or not 0 <= start <= end <= self._sent_length():
            return Annotation(None, None, data)
        span = (start, end) if self._has_native_reasoning else self._splitter.rebase(start, end)
        start, end = span or (None, None)
        return Annotation(start, end, data)

    def _sent_length(self) -> int:
        return len(self._answer.message) if self._has_native_reasoning else self._splitter.position

    @property
    def ended(self) -> bool:
        """Whether a finish reason has come."""
        return self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole completion."""
        finish = {**FINISH, **self._dialect.finish}.get(self._answer.raw_finish or "")
        usage = self._dialect.counting.usage(self._answer.raw_usage)
        return self._answer.response("content_filter" if self._refused else finish, usage)


def _has_content(fields: Mapping[str, Any] | None) -> bool:
    """Return True if a field has a value. Instead of null, servers may send an object of empty fields."""
    return any((fields or {}).values())
