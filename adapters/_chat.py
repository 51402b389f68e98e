"""OpenAI-shaped chat completions: one message, or deltas of it, in `choices`."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance.contract import Annotation, Attachment, Call, Response, StreamEvent
from llm_conformance.contract.response import FinishReason

from ._answer import Answer, Block, utc
from ._counting import OPENAI, Counting, at
from ._details import Details, text_of
from ._provider import ProviderAdapter, error_in_band, made_calls
from ._think import TAG, ThinkSplitter

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


@dataclass(frozen=True)
class Dialect:
    """What one provider says differently.

    Args:
        reasoning: Fields of the message that hold reasoning, the first that is there counts.
        counting: How tokens are counted.
        finish: Finish words beside the common ones.
        sources: Lists of what the provider's own search found, as objects or bare URLs; the first that is there counts.
        sent_back: What an earlier answer's assistant message has beside, or instead of, text and calls.
        think_tag: The tag between which reasoning stands in the text.
        signature: Where in a message, and in a call, a signature is.
        sealed: Field of the message that holds encrypted reasoning.
    """

    reasoning: tuple[str, ...] = ()
    counting: Counting = OPENAI
    finish: Mapping[str, FinishReason] | None = None
    sources: tuple[str, ...] = ()
    sent_back: Callable[[Response, Call], Mapping[str, Any]] = lambda _answer, _call: {}
    think_tag: str = TAG
    signature: tuple[str, ...] = ()
    sealed: str = ""


class ChatDecoder:
    """Understands a `chat.completion`, or its chunks."""

    def __init__(self, call: Call, dialect: Dialect) -> None:
        self._dialect = dialect
        self._answer = Answer(call)
        self._details = Details(self._answer)
        self._splitter = ThinkSplitter(call.think_profile, dialect.think_tag)
        self._has_native_reasoning = False
        self._refused = False
        self._citations: list[Mapping[str, Any]] = []
        self._sources: Sequence[Any] = ()
        # A stream may repeat beside its deltas the message so far, and a plain answer may have an empty delta.
        self._place = "delta" if call.stream else "message"
        self._going_on: dict[object, tuple[object, str | int | None]] = {}

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole completion, or one chunk."""
        self._answer.raw_events.append(document)
        yield from self._feed_completion(document)

    def _feed_completion(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        answer = self._answer
        groq = document.get("x_groq") or {}
        if error := document.get("error") or groq.get("error") or _said_by_status(document.get("base_resp") or {}):
            raise error_in_band(error, answer.call)
        answer.id = answer.id or document.get("id")
        answer.request_id = answer.request_id or document.get("request_id")
        answer.created = answer.created or utc(document.get("created"))
        answer.model = document.get("model") or answer.model
        self._count(document.get("usage") or groq.get("usage"))
        found = (document[name] for name in self._dialect.sources if document.get(name))
        self._sources = next(found, self._sources)
        for choice in document["choices"]:
            if not choice.get("index"):  # one alone need not be numbered, and Copilot's parts of one answer are not
                if choice.get("error"):
                    raise error_in_band(choice["error"], answer.call)
                self._count(choice.get("usage"))
                yield from self._feed_message(choice.get(self._place) or {})
                answer.raw_finish = choice.get("finish_reason") or answer.raw_finish
            else:
                answer.extras.setdefault("other_choices", []).append(choice)

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        self._answer.raw_usage |= {key: value for key, value in (usage or {}).items() if value is not None}

    def _feed_message(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        reasoning = next((message[name] for name in self._dialect.reasoning if message.get(name)), "")
        yield from self._feed_reasoning(reasoning, message.get("reasoning_details") or ())
        for executed in message.get("executed_tools") or ():
            self._feed_executed(executed)
        yield from self._feed_content(message.get("content"))
        calls = message.get("tool_calls") or ()
        signed = message if self._signature(message) else {}
        if signed and (message.get("content") or not calls):
            self._sign(self._answer.block("text"), signed)
            signed = {}
        if message.get("refusal"):
            self._refused = True
            self._answer.block("other", "refusal", kind="refusal").content += message["refusal"]
        for position, call in enumerate(calls):
            index = call.get("index")
            key = self._key(position if index is None else index, call.get("id"))
            if _says_anything(call.get("custom")):
                yield from self._answer.tool(
                    key, call.get("id"), call["custom"].get("name"), call["custom"].get("input") or ""
                )
                self._answer.tools[key].type = "custom"
            else:
                yield from self._feed_call(key, call.get("id"), call.get("function") or {})
            self._sign(self._answer.tools[key].block, call if self._signature(call) else signed)
            signed = {}
        if _says_anything(message.get("function_call")):  # what tool calls were before they had ids
            yield from self._feed_call("function_call", None, message["function_call"])
        self._citations += message.get("annotations") or ()
        if _says_anything(message.get("audio")):
            yield self._feed_audio(message["audio"])
        self._seal("encrypted", message.get(self._dialect.sealed))

    def _feed_reasoning(self, reasoning: str, details: Sequence[Mapping[str, Any]] = ()) -> Iterator[StreamEvent]:
        if (reasoning or any(map(text_of, details))) and not self._has_native_reasoning:
            yield from self._answer.split(self._splitter, self._splitter.end())
            self._has_native_reasoning = True
        yield from self._details.feed(reasoning, details)

    def _seal(self, name: str, value: str | None) -> None:
        """Keep opaque data with the reasoning, or by itself where nothing of it is shown."""
        if value:
            shown = [block for block in self._answer.blocks if block.type == "reasoning"]
            block = shown[-1] if shown else self._answer.block("reasoning")
            block.metadata[name] = value

    def _signature(self, place: Mapping[str, Any]) -> Any:
        return at(place, self._dialect.signature)

    def _sign(self, block: Block, place: Mapping[str, Any]) -> None:
        """Keep a signature with what it is of: it goes back in the same place."""
        if signature := self._signature(place):
            block.metadata["signature"] = signature

    def _feed_executed(self, executed: Mapping[str, Any]) -> None:
        """Take a hosted tool's call; a stream sends it again when its output is there."""
        key = ("executed", executed["index"])
        blocks = (block for block in self._answer.blocks if block.key == key)
        block = next(blocks, None) or self._answer.block("tool_call", key)
        block.content = executed.get("arguments") or ""
        block.metadata = {"server_executed": True, "name": executed["type"], "wire": executed}

    def _key(self, index: object, id: str | int | None) -> object:
        """Return the key of the call that a piece belongs to: servers may give all calls of an answer one index."""
        key = self._going_on.get(index)
        if key is None or (id and self._answer.tools[key].id not in (None, str(id))):
            key = self._going_on[index] = (index, id)
        return key

    def _feed_call(self, key: object, id: str | int | None, function: Mapping[str, Any]) -> Iterator[StreamEvent]:
        yield from self._answer.tool(key, id, function.get("name"), function.get("arguments") or "")

    def _feed_content(self, content: Any) -> Iterator[StreamEvent]:
        if isinstance(content, list):
            for part in content:
                yield from self._feed_part(part)
            return
        if content is None:
            return
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        if self._has_native_reasoning:  # then tags in the text are part of the answer
            yield from self._answer.text(text)
        else:
            yield from self._answer.split(self._splitter, self._splitter.feed(text))

    def _feed_part(self, part: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a part of a content that is a list; thinking is a list of parts again, of which some may be no text."""
        match part["type"]:
            case "text":
                yield from self._feed_content(part["text"])
            case "thinking":
                for each in part["thinking"]:
                    yield from self._feed_reasoning(each.get("text") or "")
            case "reasoning":
                yield from self._feed_reasoning("", part.get("summary") or ())
            case "reference" | "tool_reference":
                self._citations.append(part)
            case kind:
                self._answer.keep(kind, part)

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

    def end(self) -> Iterator[StreamEvent]:
        """Let go of what was held back, and place the citations in the text as it is now."""
        if not self._has_native_reasoning:
            yield from self._answer.split(self._splitter, self._splitter.end())
        for citation in self._citations:
            yield from self._answer.annotate(self._placed(citation))
        for source in self._sources:
            data = source if isinstance(source, Mapping) else {"url": source}
            yield from self._answer.annotate(Annotation(None, None, data))

    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        """Flatten `{"type": T, T: {...}}`; offsets count code points of the text as it was sent."""
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
        """Whether there was a finish reason."""
        return self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole completion."""
        words = {**FINISH, **(self._dialect.finish or {})}
        finish = words.get(self._answer.raw_finish or "")
        usage = self._dialect.counting.usage(self._answer.raw_usage)
        return self._answer.response("content_filter" if self._refused else finish, usage)


def _said_by_status(base: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the error of a 200 that says in its `base_resp` whether all is well, by a number of the provider's own."""
    code = base.get("status_code")
    return {"code": code, "message": base.get("status_msg")} if code else None


def _says_anything(fields: Mapping[str, Any] | None) -> bool:
    """Whether any field has something: servers may send an object of empty fields where there is nothing."""
    return any((fields or {}).values())


def request(call: Call, dialect: Dialect) -> dict[str, Any]:
    """Return the request body of a call; an answer among its messages is one that this adapter gave."""
    messages = [_assistant(each, call, dialect) if isinstance(each, Response) else each for each in call.messages]
    body: dict[str, Any] = {"model": call.model, "messages": messages, **call.params}
    if call.tools:
        body["tools"] = list(call.tools)
    if call.stream:
        body["stream"] = True
    return body


def _assistant(answer: Response, call: Call, dialect: Dialect) -> dict[str, Any]:
    made = made_calls(answer)
    said: dict[str, Any] = {"role": "assistant", "content": answer.message}
    return {**said, **({"tool_calls": made} if made else {}), **dialect.sent_back(answer, call)}


def trace_with_calls(answer: Response, _call: Call) -> Mapping[str, str]:
    """Return the trace where several providers demand it: beside the calls to which it led."""
    return {"reasoning_content": answer.reasoning} if answer.reasoning and answer.tool_calls else {}


def headers(call: Call) -> dict[str, str]:
    """Return the request headers of a call."""
    return {"authorization": f"Bearer {call.api_key}"}


def chat_adapter(
    provider: str, dialect: Dialect, headers: Callable[[Call], Mapping[str, str]] = headers
) -> ProviderAdapter:
    """Return the adapter of a provider with an OpenAI-shaped chat API, which has its key where `headers` say."""
    return ProviderAdapter(
        f"{provider}:chat",
        functools.partial(ChatDecoder, dialect=dialect),
        functools.partial(request, dialect=dialect),
        headers,
    )
