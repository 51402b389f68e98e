"""Generator of Gemini's generateContent: a candidate with parts. The chunks of a stream have the same form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.chance import at_most, either, some
from llm_conformance.generate.counts import growing
from llm_conformance.generate.generator import Generator
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class GeminiGenerator(Generator):
    """Writes a candidate with parts. Offsets count UTF-8 bytes in all of its visible text."""

    line_end: ClassVar[str] = "\r\n"
    structure: ClassVar[tuple[str, ...]] = ("/candidates", "/candidates/0", "/candidates/0/content/parts")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw thoughts and text in turns, then calls, some of them signed.

        Two parts of the same kind never follow each other, because in a stream they would look like one part.
        """
        thought_first = either(draw)
        kinds = [("thought", "text")[(number + (not thought_first)) % 2] for number in range(at_most(draw, 3))]
        shown = [self._block(draw, kind) for kind in kinds]
        calls = [
            Call(call.id, call.name, call.arguments, answers.seals(draw) if some(draw) else "")
            for call in answers.calls(draw, api)
        ]
        return (*_apart(shown), *calls)

    def _block(self, draw: DrawFn, kind: str) -> Block:
        if kind == "thought":
            return Reasoning(draw(texts.reasonings()))
        return answers.cited(draw, draw(texts.answers()))

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the finish words that are not numbers. Numbers are sent only to clients that ask for them."""
        return {word: reason for word, reason in api.finish.items() if not word.isdigit()}

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a grounding support."""
        return {
            "segment": {"text": block.text[citation.start : citation.end]},
            "groundingChunkIndices": [citation.number],
            "confidenceScores": [0.5],
        }

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a response with its candidate."""
        parts = [_part(block, None) for block in answer.blocks]
        return _document(answer, parts, answer.counts.raw, {"finishReason": answer.word} | self._grounding(answer))

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: a chunk for each piece of a part and each call, with the token counts so far."""
        chunks: list[list[Fields]] = []
        for block in answer.blocks:
            pieces = [None] if isinstance(block, Call) else texts.pieces(draw, getattr(block, "text", ""))
            chunks += [[_part(block, piece)] for piece in pieces]
        with_last = bool(chunks) and either(draw)
        last = chunks.pop() if with_last else ([{"text": ""}] if either(draw) else [])
        counted = growing(draw, answer.counts, len(chunks))
        so_far = [_document(answer, parts, usage) for parts, usage in zip(chunks, counted, strict=True)]
        end = {"finishReason": answer.word} | self._grounding(answer)
        return [*map(Frame, so_far), Frame(_document(answer, last, answer.counts.raw, end), ends=True)]

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
    """Yield the blocks that have text, but not two of the same kind in a row."""
    last: type[Block] | None = None
    for block in blocks:
        if isinstance(block, Text | Reasoning) and block.text and type(block) is not last:
            last = type(block)
            yield block


def _part(block: Block, piece: str | None) -> Fields:
    if isinstance(block, Call):
        call = {"id": block.id, "name": block.name, "args": json.loads(block.arguments or "{}")}
        return {"functionCall": call} | ({"thoughtSignature": block.seal} if block.seal else {})
    text = {"text": getattr(block, "text", "") if piece is None else piece}
    return text | ({"thought": True} if isinstance(block, Reasoning) else {})


def _document(answer: Answer, parts: list[Fields], usage: Fields, end: Fields | None = None) -> Fields:
    candidate: Fields = {"content": {"role": "model", "parts": parts}, "index": 0} | (end or {})
    counted = {"usageMetadata": usage} if usage else {}
    return {"candidates": [candidate], "modelVersion": answer.model, "responseId": answer.id, **counted}
