"""The variations of answers that are lists of blocks, and how to recognise their ways (`variations`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from llm_conformance.generate.answers import Block, Call, Hosted, HostedResult, Reasoning, Refusal, Text
from llm_conformance.generate.variations import Variation

CONTENT = Variation("content", "whether an answer may have no blocks", "given", ("given", "empty"))
KINDS = Variation("blocks", "the kinds of blocks, by what they are or by their type", "text")
ORDER = Variation(
    "order of blocks", "reasoning, then text, then tool calls, or any other order", "plain", ("plain", "mixed")
)
NEIGHBOURS = Variation(
    "neighbouring texts", "which text blocks follow each other", "none", ("none", "one is cited", "uncited")
)
EMPTY_TEXTS = Variation("empty text blocks", "whether a text block may be empty", "never", ("never", "sent"))
SHOWN = Variation("text of reasoning", "whether reasoning may come without its text", "shown", ("shown", "hidden"))
HOSTED = Variation("hosted tools", "the tools that the provider runs, by the type of what they return", "none")
CITATIONS = Variation("citations", "the kinds of places that are cited", "none")
CITED_TEXTS = Variation(
    "cited texts", "the texts of which it is known in what unit their offsets count", "any", ("any", "ASCII")
)

BLOCK_VARIATIONS = (CONTENT, KINDS, ORDER, NEIGHBOURS, EMPTY_TEXTS, SHOWN, HOSTED, CITATIONS, CITED_TEXTS)


def kind_of(block: Block | str) -> str:
    """Return the kind of a block, as the ways of `KINDS` name it."""
    if isinstance(block, str):
        return block
    if isinstance(block, Reasoning):
        return "redacted reasoning" if block.redacted else "reasoning"
    if isinstance(block, Text) and block.citations and not block.text:
        return "citation without text"
    kinds = {Text: "text", Call: "call", Hosted: "hosted call", HostedResult: "hosted call", Refusal: "refusal"}
    return kinds.get(type(block), type(block).__name__)


def ways_of_blocks(blocks: Sequence[Block | str]) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of a list of blocks, except for `CITATIONS` and `CITED_TEXTS`, which only the format knows.

    A block that no generator can write is given as its type.
    """
    yield CONTENT, "given" if blocks else "empty"
    for kind in dict.fromkeys(kind_of(block) for block in blocks):
        yield KINDS, kind
    yield ORDER, "plain" if is_plain(blocks) else "mixed"
    for way in dict.fromkeys(filter(None, (neighbours(*pair) for pair in pairwise(blocks)))):
        yield NEIGHBOURS, way
    texts = [block.text for block in blocks if isinstance(block, Text) and not (block.citations and not block.text)]
    if texts:
        yield EMPTY_TEXTS, "never" if all(texts) else "sent"
    for block in blocks:
        if isinstance(block, Reasoning) and not block.redacted:
            yield SHOWN, "shown" if block.text else "hidden"
    for tool in [block.tool for block in blocks if isinstance(block, HostedResult)] or ["none"]:
        yield HOSTED, tool


def neighbours(block: Block | str, other: Block | str) -> str | None:
    """Return the way of two adjacent text blocks: whether one of them is cited. None if one of them is no text."""
    if not (isinstance(block, Text) and isinstance(other, Text)):
        return None
    return "one is cited" if block.citations or other.citations else "uncited"


def is_plain(blocks: Sequence[Block | str]) -> bool:
    """Return True if reasoning, text and calls are in the plain order. Other blocks may be anywhere."""
    places: dict[type, int] = {Reasoning: 0, Text: 1, Refusal: 1, Call: 2}
    order = [place for place, _ in groupby(places[type(block)] for block in blocks if type(block) in places)]
    return order == sorted(order)
