"""Texts with reasoning between think tags, and how a correct adapter splits them.

`llm_conformance.wire.think_tags.split` has the rules. This module does not split: it joins parts to a text, and the
parts are the expected values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.generate import texts
from llm_conformance.generate.chance import at_most, pick, some
from llm_conformance.generate.variations import Variation
from llm_conformance.wire import think_tags
from llm_conformance.wire.providers.api import TAG

PROFILES: tuple[ThinkProfile, ...] = ("off", "leading", "prefilled", "anywhere")

Ways = Callable[[Variation], Sequence[str]]
"""Returns the ways of a variation (`variations`) that a text may have, the simplest one first."""

SPACES: Mapping[str, str] = {"none": "", "line break": "\n", "blank line": "\n\n"}
"""Maps the name of a way to the white space between a tag and a text."""

CLOSED, BLANK, NO_BLOCK, CUT_OFF, CALLED = "closed", "blank", "none", "cut off", "ended by a call"

BLOCK = Variation(
    "think block",
    "whether an answer has a block of reasoning, and what ends it: a tag, the token limit, or a tool call",
    CLOSED,
    (CLOSED, BLANK, NO_BLOCK, CUT_OFF, CALLED),
)
BLOCKS = Variation("think blocks", "how many blocks follow each other", "one", ("one", "several"))
OPENING_TAG = Variation(
    "opening think tag", "whether a model sends the tag that its prompt ends with", "left out", ("left out", "sent")
)
TAG_CASE = Variation("case of think tags", "whether tags have capitals", "lower", ("lower", "mixed"))
CALLS = Variation("calls behind reasoning", "whether tool calls follow a think block", "none", ("none", "sent"))


def _space_variation(where: str, usual: str) -> Variation:
    return Variation(f"space {where}", "the white space in this place", usual, tuple(SPACES))


BEFORE_THE_BLOCK = _space_variation("before a think block", "none")
BEFORE_THE_REASONING = _space_variation("behind an opening think tag", "line break")
BEHIND_THE_REASONING = _space_variation("before a closing think tag", "line break")
IN_A_BLANK_BLOCK = _space_variation("in a blank think block", "blank line")
BEHIND_THE_BLOCK = _space_variation("behind a think block", "blank line")

VARIATIONS = (
    *(BLOCK, BLOCKS, OPENING_TAG, TAG_CASE, CALLS),
    *(BEFORE_THE_BLOCK, BEFORE_THE_REASONING, BEHIND_THE_REASONING, IN_A_BLANK_BLOCK, BEHIND_THE_BLOCK),
)

_MIXED: tuple[Callable[[str], str], ...] = (str.title, str.upper)


@dataclass(frozen=True)
class Part:
    """A part of a text that is sent: `reasoning`, visible `text`, or `markup` (tags and white space around them)."""

    kind: str
    sent: str


@dataclass(frozen=True)
class ThinkText:
    """A text that is sent, in parts. Each reasoning part is a block of its own.

    Attributes:
        is_cut_off: Whether the token limit ends the text within a block.
        calls: Whether tool calls follow. If a block has no closing tag, they end it.
        is_blank: Whether the last block has only white space.
    """

    profile: ThinkProfile
    parts: tuple[Part, ...]
    is_cut_off: bool = False
    calls: bool = False
    is_blank: bool = False

    @property
    def sent(self) -> str:
        """The text as it is sent."""
        return "".join(part.sent for part in self.parts)

    @property
    def message(self) -> str:
        """The visible answer."""
        return "".join(part.sent for part in self.parts if part.kind == "text")

    @property
    def blocks(self) -> tuple[str, ...]:
        """The blocks of reasoning, without empty ones."""
        return tuple(part.sent for part in self.parts if part.kind == "reasoning" and part.sent)

    @property
    def runs(self) -> Iterator[tuple[str, str]]:
        """(kind, content) of each segment: each block of reasoning, and the text between two blocks."""
        shown = (part for part in self.parts if part.kind != "markup" and part.sent)
        for kind, parts in itertools.groupby(shown, key=lambda part: part.kind):
            if kind == "text":
                yield kind, "".join(part.sent for part in parts)
            else:
                yield from ((kind, part.sent) for part in parts)


def all_ways(variation: Variation) -> Sequence[str]:
    """Return all ways of a variation, the usual one first."""
    return (variation.usual, *(way for way in variation.ways if way != variation.usual))


@st.composite
def think_texts(draw: DrawFn, profile: ThinkProfile, tag: str = TAG, ways: Ways = all_ways) -> ThinkText:
    """Draw a text of a model with this think profile.

    By default, the text may have every kind of block that a model may send: blank, adjacent, or without a closing tag.
    Tags may be in upper or lower case. With the profile `off`, tags are text. With `leading`, tags after the start of
    the answer are text. Texts may also have pieces that only look like tags.
    """
    return _Writer(draw, profile, tag, ways).text()


@dataclass(frozen=True)
class _Writer:
    """Draws the parts of a text."""

    draw: DrawFn
    profile: ThinkProfile
    tag: str
    ways: Ways

    def text(self) -> ThinkText:
        if self.profile == "off":
            return ThinkText("off", (Part("text", self.draw(texts.answers(tag=self.tag))),))
        if self.profile == "anywhere":
            return ThinkText("anywhere", tuple(self._anywhere()))
        # If the prompt opens the block, an answer without reasoning cannot be told from reasoning.
        impossible = () if self.profile == "leading" else (NO_BLOCK, BLANK)
        ends = [way for way in self.ways(BLOCK) if way not in impossible]
        # Half of the blocks are closed, because most faults need a closed block.
        end = pick(self.draw, *ends, *[CLOSED] * len(ends)) if CLOSED in ends else pick(self.draw, *(ends or [CLOSED]))
        if end == NO_BLOCK:
            return ThinkText(self.profile, (Part("text", self._plain()),))
        is_closed = end in (CLOSED, BLANK)
        calls = end == CALLED or (is_closed and self._way(CALLS) == "sent")
        parts = tuple(self._leading(end))
        return ThinkText(self.profile, parts, is_cut_off=end == CUT_OFF, calls=calls, is_blank=end == BLANK)

    def _plain(self) -> str:
        """Draw a text without a block. It may mention tags, but not at its start. The first is no closing tag."""
        text = self._without_opening(pick(self.draw, "", *texts.near_misses(self.tag)) + self._answer())
        unclear = think_tags.closes_unopened(text, self.tag)
        return self.draw(texts.tagless(texts.ANSWER, self.tag)) if unclear else text

    def _leading(self, end: str) -> Iterator[Part]:
        opens = self.profile == "leading" or self._way(OPENING_TAG) == "sent"
        for _ in range(at_most(self.draw, 2) if self._way(BLOCKS) == "several" else 0):
            yield from self._block(CLOSED, opens)
            opens = True
        # Reasoning may mention its opening tag. Then a closing tag in the answer would end a nested block.
        names_tag = some(self.draw)
        yield from self._block(end, opens, names_tag=names_tag)
        if end in (CLOSED, BLANK):
            answer = self.draw(texts.tagless(texts.ANSWER, self.tag)) if names_tag else self._answer()
            # White space after a block is not part of the answer.
            yield Part("text", self._without_opening(answer.lstrip()).lstrip())

    def _anywhere(self) -> Iterator[Part]:
        count = at_most(self.draw, 3)
        before = self.draw(texts.tagless(texts.ANSWER, self.tag))
        # The rules do not say whether white space before the first block is part of the answer.
        yield Part("text", before if before.strip() or not count else "")
        for number in range(count):
            is_last = number == count - 1
            is_closed = not is_last or not some(self.draw)
            # Nor do the rules say it about white space between two blocks.
            yield from self._block(CLOSED if is_closed else CUT_OFF, is_alone=False, has_space=is_last)
            if is_closed:
                after = self.draw(texts.tagless(texts.ANSWER, self.tag)) + pick(self.draw, "", f"</{self.tag}>")
                yield Part("text", after.lstrip())

    def _block(
        self, end: str, opens: bool = True, *, names_tag: bool = False, is_alone: bool = True, has_space: bool = True
    ) -> Iterator[Part]:
        """Yield the parts of a block. White space around the reasoning is markup.

        Leaves out two cases that the rules do not decide: white space beyond ASCII beside a tag, and nested blocks.
        """
        if opens:
            yield Part("markup", (self._space(BEFORE_THE_BLOCK) if is_alone else "") + self._name())
        if end == BLANK:
            yield Part("markup", self._space(IN_A_BLANK_BLOCK))
        else:
            reasoning = self.draw(texts.tagless(texts.REASONING, self.tag))
            if names_tag:
                reasoning += f"<{self.tag}>{self.draw(texts.tagless(texts.REASONING, self.tag))}"
            reasoning = self._without_opening(reasoning).strip()
            reasoning = reasoning or (texts.REASONING[0] if end == CLOSED else "")
            if end == CUT_OFF:  # the token limit may come within the closing tag
                reasoning += pick(self.draw, "", *texts.begun_tags(self.tag))
            yield Part("markup", self._space(BEFORE_THE_REASONING) if opens and reasoning else "")
            yield Part("reasoning", reasoning)
        if end == CLOSED:
            yield Part("markup", self._space(BEHIND_THE_REASONING))
        if end in (CLOSED, BLANK):
            yield Part("markup", self._name("/") + (self._space(BEHIND_THE_BLOCK) if has_space else ""))

    def _answer(self) -> str:
        return self.draw(texts.answers(tag=self.tag))

    def _way(self, variation: Variation) -> str:
        return pick(self.draw, *self.ways(variation))

    def _space(self, variation: Variation) -> str:
        return SPACES[self._way(variation)]

    def _name(self, slash: str = "") -> str:
        name = pick(self.draw, *_MIXED)(self.tag) if self._way(TAG_CASE) == "mixed" else self.tag
        return f"<{slash}{name}>"

    def _without_opening(self, text: str) -> str:
        """Return a text without the opening tags at its start, in upper or lower case and after any white space."""
        while think_tags.begins_with_tag(text, self.tag):
            text = text.lstrip()[len(f"<{self.tag}>") :]
        return text
