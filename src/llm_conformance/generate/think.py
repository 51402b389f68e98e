"""Texts with reasoning between think tags, and how a correct adapter splits them.

`llm_conformance.scenarios.think_tags.split` has the rules. Nothing is split here: a text is put together from its
parts, and the parts are the expected values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.generate import texts
from llm_conformance.generate.chance import at_most, either, pick, some
from llm_conformance.wire.providers.api import TAG

PROFILES: tuple[ThinkProfile, ...] = ("off", "leading", "prefilled", "anywhere")

_CASES: tuple[Callable[[str], str], ...] = (str, str.title, str.upper)
_SPACE = ("", "\n", " ", "\n\n", " \n")


@dataclass(frozen=True)
class Part:
    """A part of a text as it is sent: `reasoning`, visible `text`, or `markup` (tags and space around them)."""

    kind: str
    sent: str


@dataclass(frozen=True)
class ThinkText:
    """A text as it is sent, in parts. Each reasoning part is a block of its own."""

    profile: ThinkProfile
    parts: tuple[Part, ...]

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
        """The kinds and contents of the segments: each block of reasoning, and the text between two of them."""
        shown = (part for part in self.parts if part.kind != "markup" and part.sent)
        for kind, parts in itertools.groupby(shown, key=lambda part: part.kind):
            if kind == "text":
                yield kind, "".join(part.sent for part in parts)
            else:
                yield from ((kind, part.sent) for part in parts)

    def on_the_wire(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a span of the message is in the text as it is sent, None if a block cuts it in two."""
        return next((span for span in self._spans(start, end)), None)

    def _spans(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        sent = seen = 0
        for part in self.parts:
            if part.kind == "text" and seen <= start and end <= seen + len(part.sent) and part.sent:
                yield sent + start - seen, sent + end - seen
            sent += len(part.sent)
            seen += len(part.sent) if part.kind == "text" else 0


@st.composite
def think_texts(draw: DrawFn, profile: ThinkProfile, tag: str = TAG) -> ThinkText:
    """Draw a text of a model with this think profile.

    Blocks may be empty, blank, adjacent, or without a closing tag. Tags are in any case. Under `off`, tags are text;
    under `leading`, tags after the answer has begun are text. There is also what only looks like a tag.
    """
    if profile == "off":
        return ThinkText(profile, (Part("text", draw(texts.answers())),))
    if profile == "anywhere":
        return ThinkText(profile, tuple(_anywhere(draw, tag)))
    return ThinkText(profile, tuple(_leading(draw, profile, tag)))


def all_think_texts(tag: str = TAG) -> SearchStrategy[ThinkText]:
    """Return a strategy for texts under any profile."""
    return st.sampled_from(PROFILES).flatmap(lambda profile: think_texts(profile, tag))


def _leading(draw: DrawFn, profile: ThinkProfile, tag: str) -> Iterator[Part]:
    prefilled = profile == "prefilled"
    count = draw(st.integers(1 if prefilled else 0, 3))
    for number in range(count):
        repeats = not (prefilled and number == 0) or either(draw)
        closed = number < count - 1 or not some(draw)
        yield from _block(draw, tag, pick(draw, *_SPACE) + (_open(draw, tag) if repeats else ""), closed)
        if not closed:
            return
    answer = draw(texts.answers())
    if not count:
        answer = pick(draw, "", *texts.NOT_TAGS) + answer
    # White space behind a block is not part of the answer. At the start of an answer without a block it is.
    yield Part("text", _without_open(answer.lstrip()).lstrip() if count else _without_open(answer))


def _anywhere(draw: DrawFn, tag: str) -> Iterator[Part]:
    count = at_most(draw, 3)
    before = draw(texts.tagless(texts.ANSWER))
    # The rules do not say whether white space before the first block is part of the answer.
    yield Part("text", before if before.strip() or not count else "")
    for number in range(count):
        last = number == count - 1
        closed = not last or not some(draw)
        # Nor do they for white space between two blocks.
        yield from _block(draw, tag, _open(draw, tag), closed, _SPACE if last else ("",))
        if not closed:
            return
        yield Part("text", (draw(texts.tagless(texts.ANSWER)) + pick(draw, "", "</think>")).lstrip())


def _block(draw: DrawFn, tag: str, before: str, closed: bool, behind: tuple[str, ...] = _SPACE) -> Iterator[Part]:
    """Yield the parts of a block. Its outer white space is not reasoning.

    Cases that the rules leave open are not drawn: white space beyond ASCII beside a tag, an opening tag in a block.
    """
    kept = draw(texts.tagless(texts.REASONING)).strip()
    if not before.endswith(">"):  # the prompt has the opening tag; the model may repeat it
        kept = _without_open(kept).strip()
    yield Part("markup", before + pick(draw, *_SPACE))
    yield Part("reasoning", kept)
    yield Part(
        "markup", pick(draw, *_SPACE) + (f"</{pick(draw, *_CASES)(tag)}>" + pick(draw, *behind) if closed else "")
    )


def _open(draw: DrawFn, tag: str) -> str:
    return f"<{pick(draw, *_CASES)(tag)}>"


def _without_open(text: str) -> str:
    """Return a text without the opening tags at its start, in any ASCII case and behind any white space."""
    while text.lstrip().encode()[: len("<think>")].lower() == b"<think>":
        text = text.lstrip()[len("<think>") :]
    return text
