"""Generator of Anthropic messages: typed blocks, or the events that build them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.generate import texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.blocks import BlocksGenerator
from llm_conformance.generate.chance import at_most, either
from llm_conformance.generate.counts import growing
from llm_conformance.generate.generator import nothing
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class MessagesGenerator(BlocksGenerator):
    """Writes a `message` with content blocks."""

    structure: ClassVar[tuple[str, ...]] = ("/content", "/content/0", "/delta")
    carriers: ClassVar[tuple[str, ...]] = ("content_block_delta", "message_delta")

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a citation of a document or of a page. Its offsets count in the document, not in the message."""
        if citation.number:
            return {
                "type": "web_search_result_location",
                "url": f"https://example.org/{citation.start}",
                "title": "Found",
                "encrypted_index": f"index{citation.end}",
                "cited_text": "what is cited",
            }
        return {
            "type": "char_location",
            "cited_text": "what is cited",
            "document_index": 0,
            "document_title": None,
            "start_char_index": citation.start,
            "end_char_index": citation.end,
        }

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a `message`."""
        content = [self._whole(draw, answer, block) for block in answer.blocks]
        return _message(answer, content, answer.word, answer.counts.raw)

    def _whole(self, draw: DrawFn, answer: Answer, block: Block) -> Fields:
        if not isinstance(block, Text):
            return self.bare(block)
        citations = [self.citation(answer, block, each) for each in block.citations]
        return self.bare(block) | ({"citations": citations} if citations else _uncited(draw))

    def bare(self, block: Block) -> Fields:
        """Return a typed block."""
        if isinstance(block, Text):
            return {"type": "text", "text": block.text}
        if isinstance(block, Call):
            arguments = json.loads(block.arguments or "{}")
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": arguments}
        if isinstance(block, Reasoning) and not block.redacted:
            return {"type": "thinking", "thinking": block.text, "signature": block.seal}
        return {"type": "redacted_thinking", "data": block.seal if isinstance(block, Reasoning) else ""}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream of events. The first has all token counts, the last those of the output, or all again."""
        counts = answer.counts
        (sent,) = growing(draw, counts, 1)
        again = {**counts.raw} if either(draw) else {}
        begun = _message(answer, [], None, {**counts.raw, **sent})
        events: list[Fields] = [{"type": "message_start", "message": begun}]
        for index, block in enumerate(answer.blocks):
            events += [event | {"index": index} for event in self._events(draw, answer, block)]
        for _ in range(at_most(draw, 1)):
            events.insert(1 + at_most(draw, len(events) - 1), {"type": "ping"})
        final = {key: value for key, value in counts.raw.items() if again or key.startswith("output")}
        delta = {"stop_reason": answer.word, "stop_sequence": None}
        events += [{"type": "message_delta", "delta": delta, "usage": final}, {"type": "message_stop"}]
        return [Frame(event, event["type"], ends=event["type"] == "message_delta") for event in events]

    def _events(self, draw: DrawFn, answer: Answer, block: Block) -> Iterator[Fields]:
        start, deltas = self._start(draw, block), list(self._deltas(draw, answer, block))
        yield {"type": "content_block_start", "content_block": start}
        yield from ({"type": "content_block_delta", "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop"}

    def _start(self, draw: DrawFn, block: Block) -> Fields:
        if isinstance(block, Text):
            return {"type": "text", "text": ""} | _uncited(draw)
        if isinstance(block, Call):
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
        if isinstance(block, Reasoning) and block.redacted:
            return {"type": "redacted_thinking", "data": block.seal}
        return {"type": "thinking", "thinking": ""} | nothing(draw, "signature", "")

    def _deltas(self, draw: DrawFn, answer: Answer, block: Block) -> Iterator[Fields]:
        if isinstance(block, Text):
            deltas: list[Fields] = [{"type": "text_delta", "text": piece} for piece in texts.pieces(draw, block.text)]
            for each in block.citations:
                cited = {"type": "citations_delta", "citation": self.citation(answer, block, each)}
                deltas.insert(at_most(draw, len(deltas)), cited)
            yield from deltas
        elif isinstance(block, Call):
            pieces = texts.pieces(draw, block.arguments)
            first = [""] if either(draw) else []
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in [*first, *pieces])
        elif isinstance(block, Reasoning) and not block.redacted:
            pieces = texts.pieces(draw, block.text)
            last = [""] if either(draw) else []
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in [*pieces, *last])
            yield {"type": "signature_delta", "signature": block.seal}

    def error_frame(self, api: Api) -> Frame:
        """Return the event of an overloaded server."""
        error = {"type": "overloaded_error", "message": "Overloaded"}
        return Frame({"type": "error", "error": error}, "error")


def _message(answer: Answer, content: list[Fields], word: str | None, usage: Fields) -> Fields:
    return {
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": word,
        "stop_sequence": None,
        "usage": usage,
    }


def _uncited(draw: DrawFn) -> Fields:
    return nothing(draw, "citations", None, [])
