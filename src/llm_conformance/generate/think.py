"""Texts with reasoning between think tags, and what a correct adapter makes of them.

The rules are those of `llm_conformance.scenarios.think_tags.split` (S1-17 to S1-24), but nothing is split
here: the text is put
together from its parts, and the parts are what is expected.
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
    """A piece of a text as it is sent: `reasoning` that counts, visible `text`, or markup and white space around."""

    kind: str
    sent: str


@dataclass(frozen=True)
class ThinkText:
    """A text as it is sent, in parts; each reasoning part is a block of its own."""

    profile: ThinkProfile
    parts: tuple[Part, ...]

    @property
    def sent(self) -> str:
        """The text on the wire."""
        return "".join(part.sent for part in self.parts)

    @property
    def message(self) -> str:
        """The visible answer."""
        return "".join(part.sent for part in self.parts if part.kind == "text")

    @property
    def blocks(self) -> tuple[str, ...]:
        """The blocks of reasoning that are not blank."""
        return tuple(part.sent for part in self.parts if part.kind == "reasoning" and part.sent)

    @property
    def runs(self) -> Iterator[tuple[str, str]]:
        """The kinds and contents of the segments: blocks of reasoning, and what text stands between two of them."""
        shown = (part for part in self.parts if part.kind != "markup" and part.sent)
        for kind, parts in itertools.groupby(shown, key=lambda part: part.kind):
            if kind == "text":
                yield kind, "".join(part.sent for part in parts)
            else:
                yield from ((kind, part.sent) for part in parts)

    def on_the_wire(self, start: int, end: int) -> tuple[int, int] | None:
        """Turn a span of the message into one of the text as it is sent; None for one that a block cuts in two."""
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
    """Draw a text of a model that is known to think as `profile` says.

    Blocks may be empty, blank, adjacent, or without an end; tags in any case. Under `off` the tags are text, under
    `leading` those that come late. Beside them stands what only looks like a tag.
    """
    if profile == "off":
        return ThinkText(profile, (Part("text", draw(texts.answers())),))
    if profile == "anywhere":
        return ThinkText(profile, tuple(_anywhere(draw, tag)))
    return ThinkText(profile, tuple(_leading(draw, profile, tag)))


def all_think_texts(tag: str = TAG) -> SearchStrategy[ThinkText]:
    """Return texts under any profile."""
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
    # White space behind a block is no part of the answer; that of an answer without a block is.
    yield Part("text", _without_open(answer.lstrip()).lstrip() if count else _without_open(answer))


def _anywhere(draw: DrawFn, tag: str) -> Iterator[Part]:
    count = at_most(draw, 3)
    before = draw(texts.tagless(texts.ANSWER))
    # Whether white space before the very first block is part of the answer is left open by the rules.
    yield Part("text", before if before.strip() or not count else "")
    for number in range(count):
        last = number == count - 1
        closed = not last or not some(draw)
        # White space behind a block that another follows is left open, too.
        yield from _block(draw, tag, _open(draw, tag), closed, _SPACE if last else ("",))
        if not closed:
            return
        yield Part("text", (draw(texts.tagless(texts.ANSWER)) + pick(draw, "", "</think>")).lstrip())


def _block(draw: DrawFn, tag: str, before: str, closed: bool, behind: tuple[str, ...] = _SPACE) -> Iterator[Part]:
    """Yield a block. Its outer white space is no reasoning.

    What is not drawn is what the rules leave open: white space beyond ASCII beside a tag, an opening tag in a block.
    """
    kept = draw(texts.tagless(texts.REASONING)).strip()
    if not before.endswith(">"):  # the prompt holds the opening tag, which the model may repeat
        kept = _without_open(kept).strip()
    yield Part("markup", before + pick(draw, *_SPACE))
    yield Part("reasoning", kept)
    yield Part(
        "markup", pick(draw, *_SPACE) + (f"</{pick(draw, *_CASES)(tag)}>" + pick(draw, *behind) if closed else "")
    )


def _open(draw: DrawFn, tag: str) -> str:
    return f"<{pick(draw, *_CASES)(tag)}>"


def _without_open(text: str) -> str:
    """Return a text that does not begin, behind white space, with an opening tag in any ASCII case."""
    while text.lstrip().encode()[: len("<think>")].lower() == b"<think>":
        text = text.lstrip()[len("<think>") :]
    return text
