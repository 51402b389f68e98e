"""Generator of Gemini's Interactions: steps, or the events that build them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.interactions.variations import FIRST_STATUS, NO_SIGNATURE
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.chance import at_most, either, some
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.variations import choose, empty
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class InteractionsGenerator(Generator):
    """Writes an `interaction` with steps. Offsets count UTF-8 bytes of the text with the citation."""

    sends_back: ClassVar[bool] = True
    history: ClassVar[str] = "input"
    seals_reasoning: ClassVar[bool] = True
    structure: ClassVar[tuple[str, ...]] = ("/steps", "/steps/0", "/delta", "/step")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw thoughts and text with citations in turns, then calls, some of them signed."""
        first = at_most(draw, 1)
        kinds = [("thought", "text")[(number + first) % 2] for number in range(at_most(draw, 3))]
        calls = (
            Call(call.id, call.name, call.arguments, answers.seals(draw) if some(draw) else "")
            for call in answers.calls(draw, api)
        )
        return (*(self._block(draw, kind) for kind in kinds), *calls)

    def _block(self, draw: DrawFn, kind: str) -> Block:
        if kind == "text":
            return answers.cited(draw, draw(texts.answers().filter(bool)))
        return Reasoning(draw(texts.reasonings()) if either(draw) else "", answers.seals(draw))

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the statuses of a complete answer."""
        return {word: reason for word, reason in api.finish.items() if reason and reason != "error"}

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a citation of a page."""
        return {"type": "url_citation", "url": f"https://example.org/{citation.number}", "title": "Found"}

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return all steps. They follow the question."""
        slot = answer.api.round_trip.slot
        return {f"{slot}/{number}": step for number, step in enumerate(map(_bare, answer.blocks), 1)}

    def turn(self, answer: Answer) -> list[Mapping[str, Any]]:
        """Return all steps."""
        return [_bare(block) for block in answer.blocks]

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw an interaction."""
        steps = [self._step(draw, answer, block) for block in _shown(answer)]
        return _interaction(answer, answer.word) | self._whole(answer) | {"steps": steps}

    def _step(self, draw: DrawFn, answer: Answer, block: Block) -> Fields:
        step = _bare(block)
        if isinstance(block, Text):
            annotations = self._annotations(answer, block)
            step["content"][0] |= {"annotations": annotations} if annotations else {}
        return step | self._unsigned(draw, answer, block)

    def _unsigned(self, draw: DrawFn, answer: Answer, block: Block) -> Fields:
        is_unsigned = isinstance(block, Call) and not block.seal
        return empty(draw, answer.api, NO_SIGNATURE, "signature") if is_unsigned else {}

    def _start(self, draw: DrawFn, answer: Answer, block: Block) -> Fields:
        """Return a step without the content that its deltas add. The step of a call has its signature."""
        if isinstance(block, Call):
            return _bare(block) | {"arguments": {}} | self._unsigned(draw, answer, block)
        return {"type": _bare(block)["type"]}

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
        """Draw a stream of events. A thought has its signature at its end."""
        begun = _interaction(answer, "in_progress")
        if choose(draw, answer.api, FIRST_STATUS) == "left out":
            del begun["status"]
        created = {"event_type": "interaction.created", "interaction": begun}
        update = {"event_type": "interaction.status_update", "interaction_id": answer.id, "status": "in_progress"}
        events: list[Fields] = [created, update]
        for index, block in enumerate(_shown(answer)):
            events.append({"event_type": "step.start", "index": index, "step": self._start(draw, answer, block)})
            events += (
                {"event_type": "step.delta", "index": index, "delta": delta}
                for delta in self._deltas(draw, answer, block)
            )
            events.append({"event_type": "step.stop", "index": index})
        whole = _interaction(answer, answer.word) | self._whole(answer)
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

    def _whole(self, answer: Answer) -> Fields:
        """Return the fields that only a finished interaction has."""
        times = {"created": _TIME, "updated": _TIME, "service_tier": "standard"}
        return {**times, **({"usage": answer.counts.raw} if answer.counts.usage else {})}


_TIME = "2025-11-04T09:12:40Z"


def _shown(answer: Answer) -> list[Block]:
    """Return the blocks that become steps. An empty text does not."""
    return [block for block in answer.blocks if not isinstance(block, Text) or block.text]


def _bare(block: Block) -> Fields:
    """Return a step without annotations. The next request sends it back in this form."""
    if isinstance(block, Text):
        return {"type": "model_output", "content": [{"type": "text", "text": block.text}]}
    if isinstance(block, Call):
        call = {"id": block.id, "name": block.name, "arguments": json.loads(block.arguments or "{}")}
        return {"type": "function_call", **call, **({"signature": block.seal} if block.seal else {})}
    summary = getattr(block, "text", "")
    shown = {"summary": [{"type": "text", "text": summary}]} if summary else {}
    return {"type": "thought", "signature": getattr(block, "seal", ""), **shown}


def _interaction(answer: Answer, status: str | None) -> Fields:
    return {"id": answer.id, "object": "interaction", "model": answer.model, "status": status}
