"""What every wire writer has in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers
from llm_conformance.generate.answers import Answer, Block, Call, Text
from llm_conformance.generate.chance import at_most
from llm_conformance.generate.counts import counts
from llm_conformance.generate.framing import Frame, Style
from llm_conformance.generate.think import ThinkText
from llm_conformance.scenarios.expected import ExpectedAnnotation
from llm_conformance.wire.providers.api import Api

ID = "answer-1"
MODEL = "model-1"
CREATED = 1762247560
"""Seconds since 1970."""


class Wire:
    """Writes answers in one format. The methods that draw are given Hypothesis' `draw`.

    Attributes:
        line_end: How lines of a stream end.
        seal: Under which name opaque data of a block comes back in a segment's metadata.
        ids: The ids of an answer; (None,) where the format has none.
        always_counts: Whether no answer is without usage.
        sends_back: Whether `sent_back` says where reasoning goes in the next request.
        structure: JSON pointers to what nobody can do without who reads an answer, or a frame of a stream: with a
            number in its place there is nothing to read.
        carriers: Types of the frames that everybody has to read; () for all, where frames have no types.
    """

    line_end: ClassVar[str] = "\n"
    seal: ClassVar[str] = "signature"
    ids: ClassVar[tuple[str | None, ...]] = (ID,)
    always_counts: ClassVar[bool] = False
    sends_back: ClassVar[bool] = False
    structure: ClassVar[tuple[str, ...]]
    carriers: ClassVar[tuple[str, ...]] = ()

    def style(self, api: Api) -> Style:
        """Return how the streams of a provider are written."""
        return Style(api.framing, self.line_end)

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw the blocks of an answer of that provider: anything that the format has a place for."""
        raise NotImplementedError

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a plain answer."""
        raise NotImplementedError

    def frames(self, draw: DrawFn, answer: Answer) -> Sequence[Frame]:
        """Draw a streamed answer. What comes before the first frame that ends it is unfinished."""
        raise NotImplementedError

    def error_frame(self, api: Api) -> Frame:
        """Return the frame with which a stream says that it failed."""
        return Frame({"error": {"message": "the server broke down", "type": "server_error"}})

    def citation(self, answer: Answer, block: Text, citation: answers.Citation) -> Mapping[str, Any]:
        """Return a citation's own data, as it has to come back: without its place."""
        raise NotImplementedError

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return where, by JSON pointer, the next request has what of the answer; it is the second of its messages."""
        return {}

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the finish words that an answer may end with, and what they mean."""
        return api.finish

    def raw_finish_reasons(self, answer: Answer) -> tuple[str | None, ...]:
        """Return all words that are right as the raw one."""
        return (answer.word,)

    def annotations(self, answer: Answer) -> Iterator[ExpectedAnnotation]:
        """Yield the annotations as they have to come back."""
        for base, block, each in answer.spans:
            start, end = base + each.start, base + each.end
            data = self.citation(answer, block, each)
            yield ExpectedAnnotation(
                start, end, answer.message[start:end], data, may_be_unanchored=each.start == each.end == 0
            )

    def answer(self, draw: DrawFn, api: Api, blocks: tuple[Block, ...], think: ThinkText | None = None) -> Answer:
        """Draw the rest of an answer that has these blocks."""
        has_calls = any(isinstance(block, Call) for block in blocks)
        return Answer(
            api, blocks, draw(counts(api, self.always_counts)), answers.word(draw, self.words(api), has_calls), think
        )


def nothing(draw: DrawFn, name: str, *ways: object) -> dict[str, Any]:
    """Draw how a field says that there is nothing: it is absent, or one of `ways`."""
    number = at_most(draw, len(ways))
    return {name: ways[number - 1]} if number else {}
