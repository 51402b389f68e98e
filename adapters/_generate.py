"""Decode a `GenerateContentResponse` of Gemini's generateContent. Its candidate is a list of parts.

The Gemini API and Vertex AI both send it: https://ai.google.dev/api/generate-content.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Annotation, Call, Response, StreamEvent, Usage
from llm_conformance.contract.response import FinishReason, SegmentType

from ._answer import Answer, Block, utc_of_text
from ._errors import error_in_band
from ._media import Media
from ._partial_arguments import PartialArguments

# Maps the finish reasons of candidates and the block reasons of prompts.
FINISH: Mapping[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "content_filter"),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), "content_filter"),
    **dict.fromkeys(("MODEL_ARMOR", "JAILBREAK"), "content_filter"),
    **dict.fromkeys(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"), "error"),
    **dict.fromkeys(("MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "NO_IMAGE"), "error"),
    **dict.fromkeys(("ESCALATION", "PUP_LIMITED_DISABLED"), "content_filter"),
    "CONTINUATION": "length",
}
# Clients that request `enum-encoding=int` get the numbers of the enum.
NUMBERS: Mapping[str, FinishReason] = {"1": "stop", "2": "length", "3": "content_filter", "4": "content_filter"}
HOSTED_CALLS = ("executableCode", "toolCall")
ANSWERS = ("candidates", "promptFeedback")
ABOUT_A_PART = (
    *("thought", "thoughtSignature", "partMetadata", "mediaResolution", "mediaProcessing", "audioTranscription"),
    *("audioMetadata", "documentMetadata", "speechMetadata", "spreadsheetMetadata", "videoMetadata"),
)


class GenerateDecoder:
    """Decodes a `GenerateContentResponse`, or all responses of a stream.

    Args:
        call: The call that the response answers.
        numbers: Maps a number in the enum to its finish reason.
    """

    def __init__(self, call: Call, numbers: Mapping[str, FinishReason] = NUMBERS) -> None:
        self._answer = Answer(call)
        self._words = {**FINISH, **numbers}
        self._citations: list[Mapping[str, Any]] = []
        self._media = Media(self._answer)
        self._partial: PartialArguments | None = None

    def feed(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take the whole response, or one chunk. Both have the same form."""
        answer = self._answer
        answer.raw_events.append(document)
        if document.get("error"):
            raise error_in_band(document["error"], answer.call)
        known = (*ANSWERS, "usageMetadata") if answer.call.stream else ANSWERS  # a chunk may have only usage
        if document.keys().isdisjoint(known):
            raise ValueError("neither candidates nor promptFeedback")
        answer.id = answer.id or document.get("responseId")
        answer.created = answer.created or utc_of_text(document.get("createTime"))
        answer.model = document.get("modelVersion") or answer.model
        usage = document.get("usageMetadata") or {}
        if any(key.endswith("TokenCount") for key in usage) or not answer.raw_usage:  # it replaces the one before
            answer.raw_usage = {key: value for key, value in usage.items() if value is not None}
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
        recited = candidate.get("citationMetadata") or {}
        self._citations += recited.get("citationSources") or recited.get("citations") or ()  # Vertex AI has `citations`

    def _feed_part(self, part: Mapping[str, Any], goes_on: bool) -> Iterator[StreamEvent]:
        """Take a part. With `goes_on`, it is the first part of a chunk, and may continue the part before it."""
        answer = self._answer
        signature = part.get("thoughtSignature")
        thought = part.get("thought") is True
        kind = next((key for key in part if key not in ABOUT_A_PART), None)
        match kind:
            case "text" | None:
                piece = part.get("text") or ""
                if not piece and not signature:  # a stream may end with an empty text
                    return
                block = self._text_block("reasoning" if thought else "text", signature, goes_on)
                yield from answer.reasoning(piece, block.key) if thought else answer.text(piece, block.key)
            case "functionCall":
                yield from self._feed_call(part["functionCall"])
                block = answer.tools[len(answer.tools) - 1].block
            case "inlineData" if not thought:
                signed = {"signature": signature} if signature else {}
                yield from self._media.feed(part["inlineData"]["mimeType"], part["inlineData"]["data"], **signed)
                return
            case _:
                block = self._keep(str(kind), part)
        if signature:
            block.metadata["signature"] = signature

    def _feed_call(self, call: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a whole call, or a piece of a call.

        The first piece has the name; the others have values of arguments.
        """
        answer = self._answer
        if "name" in call:
            yield from self._end_call()
            goes_on = call.get("willContinue") is True
            self._partial = PartialArguments(call.get("args") or {}) if goes_on or "partialArgs" in call else None
            arguments = "" if self._partial else json.dumps(call.get("args") or {}, ensure_ascii=False)
            yield from answer.tool(len(answer.tools), call.get("id"), call["name"], arguments)
        elif self._partial is None:
            raise ValueError("a function call without a name")
        if self._partial is not None:
            self._partial.feed(call.get("partialArgs") or ())
            if not call.get("willContinue"):
                yield from self._end_call()

    def _end_call(self) -> Iterator[StreamEvent]:
        if self._partial is not None:
            arguments, self._partial = self._partial.text, None
            yield from self._answer.tool(len(self._answer.tools) - 1, None, None, arguments)

    def _text_block(self, type: SegmentType, signature: str | None, goes_on: bool) -> Block:
        """Return the block for a text part.

        A part with a signature has its own block, because it goes back unchanged.
        """
        blocks = self._answer.blocks
        last = blocks[-1] if blocks else None
        if goes_on and last and last.type == type and not signature and "signature" not in last.metadata:
            return last
        return self._answer.block(type, len(blocks))

    def _keep(self, kind: str, part: Mapping[str, Any]) -> Block:
        """Keep parts that need no answer of the client: hosted tools, their results, and unknown parts.

        Each is a block.
        """
        block = Block("other", metadata={"type": kind, "wire": part})
        if kind in HOSTED_CALLS:
            content = json.dumps(part[kind], ensure_ascii=False)
            block = Block("tool_call", content=content, metadata={"server_executed": True, "name": kind, "wire": part})
        self._answer.blocks.append(block)
        return block

    def end(self) -> Iterator[StreamEvent]:
        """Flush speech and calls, and place the citations. Their offsets count in the text of all chunks."""
        yield from self._media.end()
        yield from self._end_call()
        for citation in self._citations:
            yield from self._answer.annotate(self._placed(citation))

    def _placed(self, citation: Mapping[str, Any]) -> Annotation:
        """Convert offsets from UTF-8 bytes to code points. A missing start is 0."""
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
        except UnicodeDecodeError:  # an offset inside a character
            return Annotation(None, None, data)

    @property
    def ended(self) -> bool:
        """Whether a finish reason or the block reason of the prompt has come. A stream has no other end marker."""
        return self._answer.raw_finish is not None

    def response(self) -> Response:
        """Return the whole response. STOP also ends a response with tool calls."""
        finish = self._words.get(self._answer.raw_finish or "")
        return self._answer.response("tool_calls" if finish == "stop" and self._answer.tools else finish, self._usage())

    def _usage(self) -> Usage | None:
        """Return the usage.

        The counts of candidates leave out thoughts, and the counts of prompts leave out tool use. The API omits counts
        of 0.
        """
        raw = self._answer.raw_usage
        prompt, total = raw.get("promptTokenCount"), raw.get("totalTokenCount")
        tool_use, candidates, thoughts = (
            raw.get(name) for name in ("toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        )
        cached = raw.get("cachedContentTokenCount")
        if all(count is None for count in (prompt, total, tool_use, candidates, thoughts, cached)):
            return None
        return Usage(
            prompt_tokens=None if prompt is None else prompt + (tool_use or 0),
            completion_tokens=(candidates or 0) + (thoughts or 0),
            total_tokens=total,
            cached_tokens=cached,
            reasoning_tokens=thoughts,
            raw=raw,
        )
