"""A generator for formats in which an answer is a list of blocks, with citations in text and seals on reasoning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Reasoning
from llm_conformance.generate.generator import Generator
from llm_conformance.scenarios.expected import ExpectedAnnotation
from llm_conformance.wire.providers.api import Api


class BlocksGenerator(Generator):
    """Writes blocks in any order. A citation annotates its whole block. All blocks go back in the next request."""

    sends_back: ClassVar[bool] = True
    seals_reasoning: ClassVar[bool] = True

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw text with citations, signed reasoning and redacted reasoning in any order, then tool calls."""
        kinds = draw(st.lists(st.sampled_from(("text", "reasoning", "redacted")), max_size=4))
        return (*(self._block(draw, kind) for kind in kinds), *answers.calls(draw, api))

    def _block(self, draw: DrawFn, kind: str) -> Block:
        if kind == "text":
            return answers.cited(draw, draw(texts.answers()), most=2)
        if kind == "redacted":
            return Reasoning("", answers.seals(draw), redacted=True)
        return Reasoning(draw(texts.reasonings()), answers.seals(draw))

    def bare(self, block: Block) -> Mapping[str, Any]:
        """Return a block without citations, as it is sent and as it goes back."""
        raise NotImplementedError

    def annotations(self, answer: Answer) -> Iterator[ExpectedAnnotation]:
        """Yield an annotation of the whole block for each of its citations."""
        for base, block, citation in answer.spans:
            data = self.citation(answer, block, citation)
            yield ExpectedAnnotation(base, base + len(block.text), block.text, data)

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return all blocks."""
        return {f"/messages/1{answer.api.round_trip.slot}": [self.bare(block) for block in answer.blocks]}
