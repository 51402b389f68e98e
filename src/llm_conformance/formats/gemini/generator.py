"""Generator of Gemini's generateContent: a candidate with parts. Chunks of a stream have the same form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.contract import Segment
from llm_conformance.formats.gemini.partial_arguments import can_be_in_pieces, in_pieces
from llm_conformance.formats.gemini.variations import (
    ARGUMENTS,
    BROKEN_OFF,
    CALL_IDS,
    CALL_SIGNATURES,
    COUNTS_ALONE,
    COUNTS_OF_A_STREAM,
    FINISH_MESSAGE,
    INDEX,
    LAST_CHUNK,
    NO_ARGUMENTS,
    NO_GROUNDING,
    NO_PARTS,
    PARTS,
    TEXT_SIGNATURE,
)
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.generate.counts import growing
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.variations import Variation, choose, ways_of
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class GeminiGenerator(Generator):
    """Writes a candidate with parts. Offsets count UTF-8 bytes of the candidate's visible text."""

    structure: ClassVar[tuple[str, ...]] = ("/candidates", "/candidates/0", "/candidates/0/content/parts")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw thoughts and text in turns, then calls, some of them signed.

        Two parts of the same kind never follow each other, because in a stream they would look like one part.
        """
        thought_first = either(draw)
        kinds = [("thought", "text")[(number + (not thought_first)) % 2] for number in range(at_most(draw, 3))]
        shown = list(_apart([self._block(draw, kind) for kind in kinds]))
        calls = answers.calls(draw, api)
        if calls:
            return (*shown, *self._signed(draw, api, calls))
        if shown and isinstance(shown[-1], Text) and choose(draw, api, TEXT_SIGNATURE) == "sent":
            shown[-1] = replace(shown[-1], seal=answers.seals(draw))
        return tuple(shown)

    def _block(self, draw: DrawFn, kind: str) -> Block:
        if kind == "thought":
            return Reasoning(draw(texts.reasonings()))
        return answers.cited(draw, draw(texts.answers()))

    def _signed(self, draw: DrawFn, api: Api, calls: tuple[Call, ...]) -> Iterator[Call]:
        signed = choose(draw, api, CALL_SIGNATURES)
        has_ids = choose(draw, api, CALL_IDS) == "sent"
        for number, call in enumerate(calls if has_ids else answers.without_ids(calls)):
            is_signed = signed == "all" or (signed == "the first" and number == 0)
            yield replace(call, seal=answers.seals(draw)) if is_signed else call

    def segments(self, answer: Answer, mode: Mode) -> Iterator[Segment]:
        """Yield the segments. In a stream, the signature of a text is in a part of its own."""
        for segment in super().segments(answer, mode):
            seal = segment.metadata.get(self.seal) if segment.type == "text" else None
            if seal and mode == "stream" and _signs_apart(answer.api):
                yield Segment("text", segment.content)
                yield Segment("text", "", {self.seal: seal})
            else:
                yield segment

    def settled(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Remove what a filter or an error removes: signatures and content. Let an answer with citations end normally.

        A stream keeps the text that it has sent before its last chunk. A plain response that failed may keep its text,
        too.
        """
        broken_off = _broken_off(answer)
        if broken_off is None:
            return answer
        if any(isinstance(block, Text) and block.citations for block in answer.blocks):
            return replace(answer, word=next(word for word, reason in answer.api.finish.items() if reason == "stop"))
        unsigned = tuple(replace(block, seal="") if isinstance(block, Text) else block for block in answer.blocks)
        keeps = mode == "stream" or choose(draw, answer.api, broken_off) == "parts"
        return replace(answer, blocks=unsigned if keeps else ())

    def has_body(self, answer: Answer) -> bool:
        """Return False if a filter or an error has removed content. Only a stream can have shown that content."""
        broken_off = _broken_off(answer)
        return broken_off is None or not answer.blocks or "parts" in ways_of(answer.api, broken_off)

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the finish words of candidates.

        Words for prompts are left out, and so are numbers, which clients must ask for.
        """
        return {word: reason for word, reason in api.finish.items() if not word.isdigit() and word != _OF_PROMPTS}

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a grounding support."""
        return {
            "segment": {"text": block.text[citation.start : citation.end]},
            "groundingChunkIndices": [citation.number],
        }

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a response with its candidate."""
        parts = [_part(draw, answer.api, block) for block in _shown(answer)]
        return _document(draw, answer, parts, answer.counts.raw, self._end(draw, answer))

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: chunks with the parts and the token counts so far."""
        api = answer.api
        chunks = list(self._chunks(draw, answer))
        if choose(draw, api, PARTS) == "several":
            chunks = _merged(draw, chunks)
        last = self._last(draw, answer, chunks)
        alone = at_most(draw, 2) if choose(draw, api, COUNTS_ALONE) == "at first" else 0
        counted: list[Fields | None] = [*growing(draw, answer.counts, alone + len(chunks))]
        if choose(draw, api, COUNTS_OF_A_STREAM) == "at the end":
            alone, counted = 0, [None for _ in chunks]
        end = self._end(draw, answer)
        is_grounded = "groundingMetadata" in end and choose(draw, api, NO_GROUNDING) == "empty"
        other: Fields = {"groundingMetadata": {}} if is_grounded else {}
        documents = [_head(answer, usage) for usage in counted[:alone] if usage]
        documents += [
            _document(draw, answer, parts, usage, other) for parts, usage in zip(chunks, counted[alone:], strict=True)
        ]
        return [*map(Frame, documents), Frame(_document(draw, answer, last, answer.counts.raw, end), ends=True)]

    def _chunks(self, draw: DrawFn, answer: Answer) -> Iterator[list[Fields]]:
        whole = not answer.calls or choose(draw, answer.api, ARGUMENTS) == "whole"
        for block in _shown(answer):
            if isinstance(block, Text) and block.seal and not _signs_apart(answer.api):
                yield [_part(draw, answer.api, block)]
            elif isinstance(block, Text | Reasoning):
                for piece in texts.pieces(draw, block.text):
                    yield [_part(draw, answer.api, replace(block, text=piece, seal=""))]
            elif isinstance(block, Call) and not whole and can_be_in_pieces(block):
                signature = {"thoughtSignature": block.seal} if block.seal else {}
                for number, call in enumerate(in_pieces(draw, block)):
                    yield [{"functionCall": call} | (signature if number == 0 else {})]
            else:
                yield [_part(draw, answer.api, block)]

    def _last(self, draw: DrawFn, answer: Answer, chunks: list[list[Fields]]) -> list[Fields]:
        """Draw the parts of the last chunk, which has the finish reason.

        `chunks` has the parts of the chunks before it. The last of these may be returned, and is then removed.
        """
        if _broken_off(answer):
            return []
        seals = [block.seal for block in answer.blocks if isinstance(block, Text) and block.seal]
        if seals and _signs_apart(answer.api):
            return [{"text": "", "thoughtSignature": seals[-1]}]
        ways = [way for way in ways_of(answer.api, LAST_CHUNK) if way != "a signature"]
        way = pick(draw, *(ways or ["a part"]))
        if way == "an empty text":
            return [{"text": ""}]
        return chunks.pop() if way == "a part" and chunks else []

    def _end(self, draw: DrawFn, answer: Answer) -> Fields:
        has_message = answer.calls and answer.word == "STOP" and choose(draw, answer.api, FINISH_MESSAGE) == "sent"
        message = {"finishMessage": "Model generated function call(s)."} if has_message else {}
        return {"finishReason": answer.word} | message | self._grounding(answer)

    def _grounding(self, answer: Answer) -> Fields:
        supports = [self._support(answer, base, block, each) for base, block, each in answer.spans]
        pages = [{"web": {"uri": f"https://example.org/{number}", "title": "Found"}} for number in range(2)]
        found = {"groundingChunks": pages, "groundingSupports": supports}
        return {"groundingMetadata": found} if supports else {}

    def _support(self, answer: Answer, base: int, block: Text, citation: Citation) -> Fields:
        start, end = (len(answer.message[: base + at].encode()) for at in (citation.start, citation.end))
        own = self.citation(answer, block, citation)
        return {**own, "segment": {**own["segment"], **({"startIndex": start} if start else {}), "endIndex": end}}


def _apart(blocks: list[Block]) -> Iterator[Block]:
    """Yield the blocks that are not empty. A block of the same kind as the block before it is left out."""
    last: type[Block] | None = None
    for block in blocks:
        if isinstance(block, Text | Reasoning) and block.text and type(block) is not last:
            last = type(block)
            yield block


_OF_PROMPTS = "JAILBREAK"
"""The only word of `blockReason` that is not a finish reason (google-genai 3.4.0: FinishReason)."""


def _broken_off(answer: Answer) -> Variation | None:
    """Return what varies in the content of an answer if a filter or an error ended it; None for other answers."""
    return BROKEN_OFF.get(answer.api.finish.get(answer.word or ""))


def _signs_apart(api: Api) -> bool:
    """Return True if the signature of a text comes after the text, at the end of a stream."""
    return "a signature" in ways_of(api, LAST_CHUNK)


def _shown(answer: Answer) -> list[Block]:
    """Return the blocks that become parts. An empty text does not."""
    return [block for block in answer.blocks if isinstance(block, Call) or bool(getattr(block, "text", ""))]


def _part(draw: DrawFn, api: Api, block: Block) -> Fields:
    """Draw a part. A text has its signature only if the part is the whole text."""
    signature = {"thoughtSignature": block.seal} if isinstance(block, Text | Call) and block.seal else {}
    if isinstance(block, Call):
        identified: Fields = {"name": block.name} if block.id is None else {"id": block.id, "name": block.name}
        arguments = json.loads(block.arguments or "{}")
        if arguments or choose(draw, api, NO_ARGUMENTS) == "empty":
            identified["args"] = arguments
        return {"functionCall": identified} | signature
    text: Fields = {"text": getattr(block, "text", "")}
    return text | ({"thought": True} if isinstance(block, Reasoning) else signature)


def _merged(draw: DrawFn, chunks: list[list[Fields]]) -> list[list[Fields]]:
    """Draw which chunks are merged. Pieces of one text are not merged, because in one chunk they would be two texts."""
    merged: list[list[Fields]] = []
    for chunk in chunks:
        if merged and _kind(merged[-1][-1]) != _kind(chunk[0]) and either(draw):
            merged[-1] = [*merged[-1], *chunk]
        else:
            merged.append(chunk)
    return merged


def _kind(part: Fields) -> str:
    """Return the kind of a part. Each call is a kind of its own."""
    call = part.get("functionCall")
    return repr(part) if call is not None else "thought" if part.get("thought") else "text"


def _head(answer: Answer, usage: Fields | None) -> Fields:
    """Return a document without a candidate.

    If `usage` is None, its token counts are {}; if `usage` is {}, they are absent.
    """
    counted = {"usageMetadata": usage or {}} if usage or usage is None else {}
    return {"modelVersion": answer.model, "responseId": answer.id, **counted}


def _document(draw: DrawFn, answer: Answer, parts: list[Fields], usage: Fields | None, more: Fields) -> Fields:
    content: Fields = {"content": {"role": "model", "parts": parts}}
    if not parts:
        variation = (_broken_off(answer) if "finishReason" in more else None) or NO_PARTS
        way = pick(draw, *([way for way in ways_of(answer.api, variation) if way != "parts"] or ["no content"]))
        content = {} if way == "no content" else {"content": {"role": "model"} if way == "a role" else {}}
    index = {"index": 0} if choose(draw, answer.api, INDEX) == "sent" else {}
    return {"candidates": [content | index | more], **_head(answer, usage)}
