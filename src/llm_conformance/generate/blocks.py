"""A generator for formats with blocks: text with citations, and reasoning with opaque data."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Citation, Hosted, HostedResult, Reasoning, Text
from llm_conformance.generate.block_ways import (
    CITATIONS,
    CITED_TEXTS,
    CONTENT,
    EMPTY_TEXTS,
    HOSTED,
    KINDS,
    NEIGHBOURS,
    ORDER,
    SHOWN,
    is_plain,
    neighbours,
)
from llm_conformance.generate.chance import either, pick, some
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.ids import draw_id
from llm_conformance.generate.think import ThinkText
from llm_conformance.generate.variations import Variation, choose, ways_of
from llm_conformance.scenarios.expected import ExpectedAnnotation
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

_KINDS = ("text", "citation without text", "reasoning", "redacted reasoning")
"""Kinds of blocks that a generator may draw in any order."""


class BlocksGenerator(Generator):
    """Writes blocks. A citation annotates its whole block. All blocks go back in the next request.

    Attributes:
        hosted_calls: Maps the type of a result to the name of the tool, for tools that the provider runs and that this
            generator can write.
        declared: Maps the name of a hosted tool to its declaration in a request.
        places: The kinds of cited places that this generator can write.
        found_by: Maps a kind of cited place to the type of a hosted tool's result, if only this tool finds such places.
        signature: The variation that says whether reasoning has a signature.
    """

    sends_back: ClassVar[bool] = True
    seals_reasoning: ClassVar[bool] = True
    hosted_calls: ClassVar[Mapping[str, str]] = {}
    declared: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    places: ClassVar[tuple[str, ...]] = ()
    found_by: ClassVar[Mapping[str, str]] = {}
    signature: ClassVar[Variation]

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw text with citations, signed and redacted reasoning and hosted calls, then tool calls."""
        free = [kind for kind in ways_of(api, KINDS) if kind in _KINDS]
        if self.hosted_tools(api):
            free.append("hosted call")
        kinds = draw(_lists_of(*free))
        drawn = [block for number, kind in enumerate(kinds) for block in self._blocks(draw, api, kind, number)]
        fitting = _fitting(self, api, drawn)
        shown = [*self._found(draw, api, fitting, max(len(kinds), len(fitting)))]
        # A request with hosted tools has no tools of the client, because an adapter's call has the two in different
        # places.
        may_call = "call" in ways_of(api, KINDS) and not any(isinstance(block, Hosted) for block in shown)
        called = answers.calls(draw, api) if may_call else ()
        blocks = (*shown, *called)
        return blocks if blocks or choose(draw, api, CONTENT) == "empty" else (Text("a"),)

    def params(self, answer: Answer) -> Mapping[str, Any]:
        """Return the declarations of the hosted tools that the answer has used."""
        ran = dict.fromkeys(block.tool for block in answer.blocks if isinstance(block, Hosted))
        tools = [self.declared[tool] for tool in ran if tool in self.declared]
        return {"tools": tools} if tools else {}

    def answer(
        self,
        draw: DrawFn,
        api: Api,
        blocks: tuple[Block, ...],
        think: ThinkText | None = None,
        asked: str | None = None,
        mode: Mode = "json",
    ) -> Answer:
        """Draw the rest of an answer with these blocks. Drops empty texts if the API sends none."""
        if "sent" not in ways_of(api, EMPTY_TEXTS):
            blocks = tuple(block for block in blocks if not isinstance(block, Text) or block.text or block.citations)
        if not blocks and "empty" not in ways_of(api, CONTENT):
            blocks = (Text("a"),)
        return super().answer(draw, api, blocks, think, asked, mode)

    def settled(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Return the answer. If it ends with reasoning or a hosted call, add text or mark the answer as cut off."""
        if not (answer.blocks and isinstance(answer.blocks[-1], Reasoning | Hosted | HostedResult)):
            return answer
        words = [word for word, reason in self.sent_words(answer.api).items() if reason == "length"]
        if words and some(draw):
            return replace(answer, word=pick(draw, *words))
        return replace(answer, blocks=(*answer.blocks, Text("a")))

    def _found(self, draw: DrawFn, api: Api, blocks: Sequence[Block], behind: int) -> Iterator[Block]:
        """Yield the blocks, with a hosted call before a text that cites what only that call can find.

        The numbers of these calls start at `behind`. No call among the blocks has such a number.
        """
        ran: set[str] = set()
        for number, block in enumerate(blocks):
            if isinstance(block, Hosted | HostedResult) and not getattr(block, "failed", False):
                ran.add(block.tool)
            for citation in block.citations if isinstance(block, Text) else ():
                needed = self.found_by.get(self.place(api, citation))
                if needed in self.hosted_tools(api) and needed not in ran:
                    ran.add(needed)
                    yield from self.hosted(draw, api, behind + number, needed, failed=False)
            yield block

    def _blocks(self, draw: DrawFn, api: Api, kind: str, number: int) -> tuple[Block, ...]:
        if kind == "text":
            text = draw(texts.answers())
            return (self._cited(draw, api, text) if self._places(api) else Text(text),)
        if kind == "citation without text":
            return (Text("", (answers.Citation(0, 0, number),)),)
        if kind == "hosted call":
            return self.hosted(draw, api, number, pick(draw, *self.hosted_tools(api)), either(draw))
        if kind == "redacted reasoning":
            return (self.redacted(draw),)
        hidden = choose(draw, api, SHOWN) == "hidden"
        return (self.reasoning(draw, api, "" if hidden else draw(texts.reasonings())),)

    def _cited(self, draw: DrawFn, api: Api, text: str) -> Text:
        is_known = "any" in ways_of(api, CITED_TEXTS)
        block = answers.cited(draw, text if is_known else text.encode("ascii", "ignore").decode(), most=2)
        return block if block.citations else Text(text)

    def hosted(self, draw: DrawFn, api: Api, number: int, result: str, failed: bool) -> tuple[Block, ...]:
        """Draw a call of a tool that the provider runs, and its result.

        Args:
            draw: Hypothesis' `draw`.
            api: The API.
            number: Calls with different numbers have different ids.
            result: The type of the result.
            failed: Whether the result is an error.
        """
        id = draw_id(draw, api, self.id_of_hosted(result), number)
        arguments = pick(draw, *self.arguments(result))
        return Hosted(id, self.hosted_calls[result], arguments), HostedResult(id, result, failed)

    def id_of_hosted(self, result: str) -> str:
        """Return the kind of id of a hosted tool's call, by the type of its result."""
        return "hosted call"

    def arguments(self, result: str) -> Sequence[str]:
        """Return possible arguments of a hosted tool, as JSON texts, by the type of its result."""
        return '{"query": "a"}', '{"query": "é 😀"}'

    def fits(self, block: Block, before: Sequence[Block]) -> bool:
        """Return True if a block may follow the blocks `before`."""
        return True

    def reasoning(self, draw: DrawFn, api: Api, text: str) -> Reasoning:
        """Draw a block of reasoning with this text."""
        return Reasoning(text, answers.seals(draw) if choose(draw, api, self.signature) == "given" else "")

    def cites(self, api: Api) -> bool:
        """Return True if this API cites a kind of place that this generator can write."""
        return bool(self._places(api))

    def redacts(self, api: Api) -> bool:
        """Return True if this API sends redacted reasoning."""
        return "redacted reasoning" in ways_of(api, KINDS)

    def redacted(self, draw: DrawFn) -> Reasoning:
        """Draw a block of redacted reasoning."""
        return Reasoning("", answers.seals(draw), redacted=True)

    def hosted_tools(self, api: Api) -> list[str]:
        """Return the types of results of this API's hosted tools that this generator can write."""
        return [result for result in ways_of(api, HOSTED) if result in self.hosted_calls]

    def _places(self, api: Api) -> list[str]:
        return [place for place in ways_of(api, CITATIONS) if place in self.places]

    def place(self, api: Api, citation: Citation) -> str:
        """Return the kind of place that a citation cites."""
        known = self._places(api)
        return known[(citation.start + citation.number) % len(known)]

    def bare(self, block: Block) -> Mapping[str, Any]:
        """Return a block without citations, as the provider sends it and as it goes back."""
        raise NotImplementedError

    def annotations(self, answer: Answer) -> Iterator[ExpectedAnnotation]:
        """Yield an annotation of the whole block for each of its citations."""
        for base, block, citation in answer.spans:
            data = self.citation(answer, block, citation)
            is_unanchored = not block.text
            yield ExpectedAnnotation(base, base + len(block.text), block.text, data, may_be_unanchored=is_unanchored)

    def turn(self, answer: Answer) -> list[Mapping[str, Any]]:
        """Return a message with all blocks."""
        return [{"role": "assistant", "content": [self.bare(block) for block in answer.blocks]}]

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return all blocks."""
        return {f"/messages/1{answer.api.round_trip.slot}": [self.bare(block) for block in answer.blocks]}


@functools.cache  # to create a strategy takes longer than to draw from it
def _lists_of(*kinds: str) -> SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(kinds), max_size=4)


def _fitting(generator: BlocksGenerator, api: Api, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks that one answer of this API may have, in an order that the API may send."""
    empty_texts, shown = "sent" in ways_of(api, EMPTY_TEXTS), "hidden" in ways_of(api, SHOWN)
    allowed, orders = ways_of(api, NEIGHBOURS), ways_of(api, ORDER)
    result: list[Block] = []
    for block in blocks:
        if isinstance(block, Text) and not (block.text or block.citations or empty_texts):
            continue
        if isinstance(block, Reasoning) and not (block.text or block.redacted or shown):
            continue
        if result and neighbours(result[-1], block) not in (None, *allowed):
            continue
        if ("mixed" in orders or is_plain([*result, block])) and generator.fits(block, result):
            result.append(block)
    return result
