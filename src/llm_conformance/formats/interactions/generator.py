"""Generator of Gemini's Interactions: steps, or the events that build them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.chance import either, some
from llm_conformance.generate.generator import Generator
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class InteractionsGenerator(Generator):
    """Writes an `interaction` with steps. Offsets count UTF-8 bytes in the text that has the citation."""

    structure: ClassVar[tuple[str, ...]] = ("/steps", "/steps/0", "/delta", "/step")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw text with citations and thoughts in any order, then calls, some of them signed."""
        kinds = draw(st.lists(st.sampled_from(("text", "thought")), max_size=3))
        calls = (
            Call(call.id, call.name, call.arguments, answers.seals(draw) if some(draw) else "")
            for call in answers.calls(draw, api)
        )
        return (*(self._block(draw, kind) for kind in kinds), *calls)

    def _block(self, draw: DrawFn, kind: str) -> Block:
        if kind == "text":
            return answers.cited(draw, draw(texts.answers()))
        return Reasoning(draw(texts.reasonings()) if either(draw) else "", answers.seals(draw))

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the statuses of a complete answer."""
        return {word: reason for word, reason in api.finish.items() if reason and reason != "error"}

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a citation of a page."""
        return {"type": "url_citation", "url": f"https://example.org/{citation.number}", "title": "Found"}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw an interaction."""
        steps = [self._step(answer, block) for block in answer.blocks]
        return _interaction(answer, answer.word) | self._counted(answer) | {"steps": steps}

    def _step(self, answer: Answer, block: Block) -> Fields:
        if isinstance(block, Text):
            annotations = self._annotations(answer, block)
            text: Fields = {"type": "text", "text": block.text} | ({"annotations": annotations} if annotations else {})
            return {"type": "model_output", "content": [text]}
        if isinstance(block, Call):
            return self._start(block) | {"arguments": json.loads(block.arguments or "{}")}
        summary = getattr(block, "text", "")
        return self._start(block) | ({"summary": [{"type": "text", "text": summary}]} if summary else {})

    def _start(self, block: Block) -> Fields:
        if isinstance(block, Call):
            signed = {"signature": block.seal} if block.seal else {}
            return {"type": "function_call", "id": block.id, "name": block.name, **signed}
        if isinstance(block, Reasoning):
            return {"type": "thought", "signature": block.seal}
        return {"type": "model_output"}

    def _annotations(self, answer: Answer, block: Text) -> list[Fields]:
        return [
            {
                **self.citation(answer, block, each),
                "start_index": len(block.text[: each.start].encode()),
                "end_index": len(block.text[: each.end].encode()),
            }
            for each in block.citations
        ]

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream of events. The signature of a thought comes at its end."""
        created = _interaction(answer, "in_progress")
        events: list[Fields] = [{"event_type": "interaction.created", "interaction": created}]
        for index, block in enumerate(answer.blocks):
            start = {"type": "thought"} if isinstance(block, Reasoning) else self._start(block)
            start |= {"arguments": {}} if isinstance(block, Call) else {}
            events.append({"event_type": "step.start", "index": index, "step": start})
            events += (
                {"event_type": "step.delta", "index": index, "delta": delta}
                for delta in self._deltas(draw, answer, block)
            )
            events.append({"event_type": "step.stop", "index": index})
        whole = _interaction(answer, answer.word) | self._counted(answer)
        events.append({"event_type": "interaction.completed", "interaction": whole})
        last = "interaction.completed"
        frames = [Frame(event, event["event_type"], ends=event["event_type"] == last) for event in events]
        return [*frames, Frame("[DONE]", "done")]

    def _deltas(self, draw: DrawFn, answer: Answer, block: Block) -> Iterator[Fields]:
        if isinstance(block, Text):
            yield from ({"type": "text", "text": piece} for piece in texts.pieces(draw, block.text))
            annotations = self._annotations(answer, block)
            if annotations:
                yield {"type": "text_annotation_delta", "annotations": annotations}
        elif isinstance(block, Call):
            pieces = texts.pieces(draw, block.arguments)
            yield from ({"type": "arguments_delta", "arguments": piece} for piece in pieces)
        elif isinstance(block, Reasoning):
            for piece in texts.pieces(draw, block.text):
                yield {"type": "thought_summary", "content": {"type": "text", "text": piece}}
            yield {"type": "thought_signature", "signature": block.seal}

    def _counted(self, answer: Answer) -> Fields:
        return {"usage": answer.counts.raw} if answer.counts.usage else {}

    def error_frame(self, api: Api) -> Frame:
        """Return an event with an error."""
        return Frame({"event_type": "error", "error": {"code": 503, "message": "overloaded"}}, "error")


def _interaction(answer: Answer, status: str | None) -> Fields:
    return {
        "id": answer.id,
        "object": "interaction",
        "model": answer.model,
        "created": "2025-11-04T09:12:40Z",
        "status": status,
    }
