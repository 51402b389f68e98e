"""Gemini: https://ai.google.dev/api/generate-content. An answer is a list of parts; the other API is OpenAI's."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from llm_conformance.contract import Annotation, Attachment, Call, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason, SegmentType

from ._answer import Answer, Block, utc_of_text
from ._chat import chat_adapter, tool_calls
from ._counting import Counting
from ._dialect import Dialect
from ._errors import error_in_band
from ._framing import array
from ._provider import ProviderAdapter

# Candidates' finish reasons and prompts' block reasons.
FINISH: Mapping[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "content_filter"),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), "content_filter"),
    **dict.fromkeys(("MODEL_ARMOR", "JAILBREAK"), "content_filter"),
    **dict.fromkeys(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"), "error"),
    **dict.fromkeys(("MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "NO_IMAGE"), "error"),
}
# Some clients ask for the numbers of the enum instead of words.
NUMBERS: Mapping[str, FinishReason] = {"1": "stop", "2": "length", "3": "content_filter", "4": "content_filter"}
HOSTED_CALLS = ("executableCode", "toolCall")
ANSWERS = ("candidates", "promptFeedback")
ABOUT_A_PART = ("thought", "thoughtSignature", "partMetadata", "mediaResolution", "videoMetadata")


class GenerateDecoder:
    """Understands a `GenerateContentResponse`, whole or one of a stream's."""

    def __init__(self, call: Call, numbers: Mapping[str, FinishReason] = NUMBERS) -> None:
        self._answer = Answer(call)
        self._words = {**FINISH, **numbers}
        self._citations: list[Mapping[str, Any]] = []
        self._unspoken = b""

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole answer, or one chunk: the pieces are answers of the same form."""
        answer = self._answer
        answer.raw_events.append(document)
        if document.get("error"):
            raise error_in_band(document["error"], answer.call)
        known = (*ANSWERS, "usageMetadata") if answer.call.stream else ANSWERS  # some chunks of a stream only count
        if document.keys().isdisjoint(known):
            raise ValueError("neither candidates nor feedback on the prompt")
        answer.id = answer.id or document.get("responseId")
        answer.created = answer.created or utc_of_text(document.get("createTime"))
        answer.model = document.get("modelVersion") or answer.model
        usage = document.get("usageMetadata") or {}
        answer.raw_usage |= {key: value for key, value in usage.items() if value is not None}
        self._finish((document.get("promptFeedback") or {}).get("blockReason"))
        for candidate in document.get("candidates") or ():
            if candidate.get("index"):
                answer.extras.setdefault("other_candidates", []).append(candidate)
            else:
                yield from self._feed_candidate(candidate)

    def _finish(self, reason: str | int | None) -> None:
        if reason:
            self._answer.raw_finish = str(reason)

    def _feed_candidate(self, candidate: Mapping[str, Any]) -> Iterator[StreamEvent]:
        for position, part in enumerate((candidate.get("content") or {}).get("parts") or ()):
            yield from self._feed_part(part, goes_on=position == 0)
        self._finish(candidate.get("finishReason"))
        grounding = candidate.get("groundingMetadata") or {}
        sources = grounding.get("groundingChunks") or ()
        for support in grounding.get("groundingSupports") or ():
            numbers = support.get("groundingChunkIndices") or ()
            cited = [sources[number] for number in numbers if 0 <= number < len(sources)]
            self._citations.append({**support, "groundingChunks": cited})
        self._citations += (candidate.get("citationMetadata") or {}).get("citationSources") or ()

    def _feed_part(self, part: Mapping[str, Any], goes_on: bool) -> Iterator[StreamEvent]:
        """Take a part. `goes_on`: it stands first in its chunk, and may be more of what the last one ended with."""
        answer = self._answer
        signature = part.get("thoughtSignature")
        thought = part.get("thought") is True
        kind = next((key for key in part if key not in ABOUT_A_PART), None)
        match kind:
            case "text" | None:
                piece = part.get("text") or ""
                if not piece and not signature:  # the end of a stream may be an empty text
                    return
                block = self._text_block("reasoning" if thought else "text", signature, goes_on)
                yield from answer.reasoning(piece, block.key) if thought else answer.text(piece, block.key)
            case "functionCall":
                call, key = part["functionCall"], len(answer.tools)
                arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
                yield from answer.tool(key, call.get("id"), call["name"], arguments)
                block = answer.tools[key].block
            case "inlineData" if not thought:
                type, data = part["inlineData"]["mimeType"], part["inlineData"]["data"]
                if answer.call.stream and type.startswith("audio/"):
                    yield from self._feed_speech(type, data)
                else:
                    yield from self._feed_media(type, data, {"signature": signature} if signature else {})
                return
            case _:
                block = self._keep(str(kind), part)
        if signature:
            block.metadata["signature"] = signature

    def _text_block(self, type: SegmentType, signature: str | None, goes_on: bool) -> Block:
        """Return the block that a text part belongs to. One with a signature stays alone: it goes back as it came."""
        blocks = self._answer.blocks
        last = blocks[-1] if blocks else None
        if goes_on and last and last.type == type and not signature and "signature" not in last.metadata:
            return last
        return self._answer.block(type, len(blocks))

    def _feed_media(self, type: str, data: str, metadata: Mapping[str, Any]) -> Iterator[StreamEvent]:
        yield from self._end_speech()
        answer = self._answer
        attachment = Attachment(
            id=f"media-{len(answer.attachments)}",
            type=type,
            data=data,
            text_index=len(answer.message),
            metadata=metadata,
        )
        answer.attachments.append(attachment)
        yield StreamEvent("response.media", attachment={"id": attachment.id, "type": type, "data": data})

    def _feed_speech(self, type: str, data: str) -> Iterator[StreamEvent]:
        """Take a piece of streamed speech: pieces of one type that follow each other are one attachment.

        Each piece is padded base64 of its own, while those of an attachment join to one text. So only whole groups of
        three bytes are given on, and what is left over waits for the next piece.
        """
        made = self._answer.attachments
        if not made or made[-1].type != type:
            yield from self._feed_media(type, "", {})
        spoken = self._unspoken + base64.b64decode(data)
        whole = len(spoken) - len(spoken) % 3
        self._unspoken = spoken[whole:]
        yield from self._speak(spoken[:whole])

    def _end_speech(self) -> Iterator[StreamEvent]:
        if self._unspoken:
            left, self._unspoken = self._unspoken, b""
            yield from self._speak(left)

    def _speak(self, spoken: bytes) -> Iterator[StreamEvent]:
        last = self._answer.attachments[-1]
        data = base64.b64encode(spoken).decode("ascii")
        self._answer.attachments[-1] = replace(last, data=f"{last.data}{data}")
        yield StreamEvent("response.media", attachment={"id": last.id, "type": last.type, "data": data})

    def _keep(self, kind: str, part: Mapping[str, Any]) -> Block:
        """Keep what the client need not answer visible: hosted tools, their results, and whatever is new."""
        block = Block("other", metadata={"type": kind, "wire": part})
        if kind in HOSTED_CALLS:
            content = json.dumps(part[kind], ensure_ascii=False)
            block = Block("tool_call", content=content, metadata={"server_executed": True, "name": kind, "wire": part})
        self._answer.blocks.append(block)
        return block

    def end(self) -> Iterator[StreamEvent]:
        """Give out the last of the speech, and place the citations: they count in the text of all chunks together."""
        yield from self._end_speech()
        for citation in self._citations:
            yield from self._answer.annotate(self._placed(citation))

    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        """Turn offsets in UTF-8 bytes into code points; a start that is not there is 0."""
        segment = citation.get("segment")
        at = citation if segment is None else segment
        rest = {key: value for key, value in at.items() if key not in ("startIndex", "endIndex")}
        data = rest if segment is None else {**citation, "segment": rest}
        text = self._answer.message.encode("utf-8")
        start, end = at.get("startIndex") or 0, at.get("endIndex")
        if end is None or not 0 <= start <= end <= len(text):
            return Annotation(None, None, data)
        try:
            return Annotation(len(text[:start].decode("utf-8")), len(text[:end].decode("utf-8")), data)
        except UnicodeDecodeError:  # in the middle of a character
            return Annotation(None, None, data)

    @property
    def ended(self) -> bool:
        """Whether a candidate has its finish reason, or the prompt was blocked: there is no other end."""
        return self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole answer. STOP is said of tool calls too."""
        finish = self._words.get(self._answer.raw_finish or "")
        return self._answer.response("tool_calls" if finish == "stop" and self._answer.tools else finish, self._usage())

    def _usage(self) -> Usage | None:
        """Candidates exclude thoughts, and prompts what hosted tools read; a count of 0 is left out."""
        raw = self._answer.raw_usage
        asked, total = raw.get("promptTokenCount"), raw.get("totalTokenCount")
        read, answered, thought = (
            raw.get(name) for name in ("toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        )
        cached = raw.get("cachedContentTokenCount")
        if all(count is None for count in (asked, total, read, answered, thought, cached)):
            return None
        prompt = None if asked is None else asked + (read or 0)
        completion = (answered or 0) + (thought or 0)
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            total_tokens=total,
            cached_tokens=cached,
            reasoning_tokens=thought,
            raw=raw,
        )


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call: system prompts apart, tools as `functionDeclarations`."""
    said = [each for each in call.messages if not isinstance(each, Response)]
    system = [part for message in said if message["role"] == "system" for part in _parts(message)]
    body: dict[str, Any] = {"contents": list(_contents(call)), **call.params}
    if system:
        body["systemInstruction"] = {"parts": system}
    if call.tools:
        own = {"functionDeclarations": [tool["function"] for tool in call.tools]}
        body["tools"] = [*body.get("tools", ()), own]
    return body


def _contents(call: Call) -> Iterator[Mapping[str, Any]]:
    """Yield the messages; results of tools are the user's, and all those that follow an answer are one message."""
    names: dict[str | None, str] = {}
    results: list[Mapping[str, Any]] = []
    for message in call.messages:
        if isinstance(message, Response):
            names = {made.id: made.name for made in message.tool_calls}
            yield {"role": "model", "parts": list(_sent_back(message))}
        elif message["role"] == "tool":
            if not results:
                yield {"role": "user", "parts": results}
            id = message["tool_call_id"]
            answer = {"id": id, "name": names[id], "response": {"result": message["content"]}}
            results.append({"functionResponse": answer})
            continue
        elif message["role"] != "system":
            yield {"role": "model" if message["role"] == "assistant" else "user", "parts": _parts(message)}
        results = []


def _sent_back(answer: Response) -> Iterator[Mapping[str, Any]]:
    """Yield an earlier answer's parts, each with the signature that it came with. Thoughts without one stay out."""
    for segment in answer.segments:
        about = segment.metadata
        signed = {"thoughtSignature": about["signature"]} if "signature" in about else {}
        if "wire" in about:
            yield about["wire"]
        elif segment.type == "text":
            yield {"text": segment.content, **signed}
        elif segment.type == "tool_call":
            id = {"id": about["id"]} if about.get("id") else {}
            made = {**id, "name": about["name"], "args": json.loads(segment.content)}
            yield {"functionCall": made, **signed}
        elif segment.type == "reasoning" and signed:
            yield {"text": segment.content, "thought": True, **signed}


def _parts(message: Mapping[str, Any]) -> list[Any]:
    """Return a message's content as parts; a list of them, in the provider's own form, stays as it is."""
    content = message["content"]
    return [{"text": content}] if isinstance(content, str) else content


def headers(call: Call) -> dict[str, str]:
    """Return the request headers of a call."""
    return {"x-goog-api-key": call.api_key}


def _signed(answer: Response, _call: Call) -> Mapping[str, Any]:
    """Return what an assistant message of the compatible API has beside its text: each signature in its place."""
    kept = [each.metadata for each in answer.segments if each.type in ("text", "tool_call")]
    calls = [about for about in kept if "name" in about]
    own = [_extra(about) for about in kept if "name" not in about and "signature" in about]
    made = [{**each, **_extra(about)} for each, about in zip(tool_calls(answer), calls, strict=True)]
    return {**(own[-1] if own else {}), **({"tool_calls": made} if made else {})}


def _extra(about: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"extra_content": {"google": {"thought_signature": about["signature"]}}} if "signature" in about else {}


adapters = (
    ProviderAdapter("gemini:generate", GenerateDecoder, request, headers),
    ProviderAdapter("gemini:array", GenerateDecoder, request, headers, array),
    chat_adapter(
        "gemini",
        Dialect(
            think_tag="thought",
            signature=("extra_content", "google", "thought_signature"),
            counting=Counting(hides_thoughts=True),
            round_trip=_signed,
        ),
    ),
)
