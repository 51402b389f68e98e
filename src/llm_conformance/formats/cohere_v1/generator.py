"""Generator of Cohere's first chat API: a text with citations, or the events that build it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.cohere_v1.variations import CITATION_EVENTS, CITATIONS, COUNTS
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Citation, Text
from llm_conformance.generate.chance import either
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.variations import Variation, choose, ways_of
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]

_DOCUMENT = {"id": "doc_0", "title": "Found", "snippet": "a"}
_BILLED = {"input_tokens": 1, "output_tokens": 0}


class CohereV1Generator(Generator):
    """Writes a text. A stream repeats the whole answer at its end."""

    counted: ClassVar[Mapping[Mode, Variation]] = {"json": COUNTS, "stream": COUNTS}
    history: ClassVar[str] = "chat_history"
    structure: ClassVar[tuple[str, ...]] = ("/text",)

    def cites(self, api: Api) -> bool:
        """Return True if answers cite documents."""
        return "documents" in ways_of(api, CITATIONS)

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw a text with citations."""
        text = draw(texts.answers())
        return (answers.cited(draw, text) if self.cites(api) and either(draw) else Text(text),)

    def params(self, answer: Answer) -> Mapping[str, Any]:
        """Return the documents that the answer cites."""
        return {"documents": [_DOCUMENT]} if any(answer.spans) else {}

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a citation without its offsets."""
        return {"text": block.text[citation.start : citation.end], "document_ids": ["doc_0"]}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw an answer."""
        return self._whole(answer)

    def _whole(self, answer: Answer) -> Fields:
        said = [{"role": "USER", "message": "(generated)"}, {"role": "CHATBOT", "message": answer.message}]
        whole: Fields = {"response_id": answer.id, "text": answer.message, "generation_id": answer.id}
        whole |= {"chat_history": said, "finish_reason": answer.word}
        citations = self._citations(answer)
        whole |= {"citations": citations, "documents": [_DOCUMENT]} if citations else {}
        if answer.counts.usage:
            whole["meta"] = {"api_version": {"version": "1"}, "billed_units": _BILLED, **answer.counts.raw}
        return whole

    def _citations(self, answer: Answer) -> list[Fields]:
        return [
            {"start": each.start, "end": each.end, **self.citation(answer, block, each)}
            for _, block, each in answer.spans
        ]

    def frames(self, draw: DrawFn, answer: Answer) -> Sequence[Frame]:
        """Draw a stream: a start, the pieces, the citations, and an end with the whole answer."""
        events: list[Fields] = [{"event_type": "stream-start", "generation_id": answer.id}]
        events += ({"event_type": "text-generation", "text": piece} for piece in texts.pieces(draw, answer.message))
        citations = self._citations(answer)
        if citations and choose(draw, answer.api, CITATION_EVENTS) == "together":
            events.append({"event_type": "citation-generation", "citations": citations})
        else:
            events += ({"event_type": "citation-generation", "citations": [each]} for each in citations)
        end = {"event_type": "stream-end", "finish_reason": answer.word, "response": self._whole(answer)}
        frames = [Frame({"is_finished": False, **event}) for event in events]
        return [*frames, Frame({"is_finished": True, **end}, ends=True)]
