"""Adapters that split a text at think tags with one fault. They have no `fails`: generated inputs have to find them.

They read the text of chat completions. Some split the whole text, most of these with a regular expression, as many
libraries do. The others split a stream.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ClassVar

from adapters._chat_decoder import ChatDecoder
from adapters._dialect import Dialect
from adapters._think import Kind, ThinkSplitter
from llm_conformance.contract import Call
from llm_conformance.contract.call import ThinkProfile
from tests.broken.base import Broken, Pieces

OPENING, CLOSING = "opening", "closing"


class SplittingDecoder(ChatDecoder):
    def __init__(self, call: Call, dialect: Dialect, splitter: Callable[[ThinkProfile, str], ThinkSplitter]) -> None:
        super().__init__(call, dialect)
        self._splitter = splitter(call.think_profile, dialect.think_tag)


class FaultySplitter(Broken):
    """Splits chat completions with `splitter`.

    Attributes:
        says: What the fault is.
        splitter: The splitter with the fault.
    """

    apis = ("local:chat",)
    splitter: ClassVar[type[ThinkSplitter]]

    def __init__(self) -> None:
        super().__init__()
        for api in self.apis:
            adapter = self._by_api[api]
            options = adapter.decoder.keywords if isinstance(adapter.decoder, functools.partial) else {}
            decoder = functools.partial(SplittingDecoder, splitter=self.splitter, **options)
            self._by_api[api] = replace(adapter, decoder=decoder)


class SplitsWholeTexts(FaultySplitter):
    """Has only the method `parse`."""

    complete = stream = parse_stream = None  # type: ignore[assignment]


class SplitsStreams(FaultySplitter):
    """Has only the method `parse_stream`."""

    complete = stream = parse = None  # type: ignore[assignment]


class WholeTextSplitter(ThinkSplitter):
    """Holds the whole text back and then splits it, if the think profile is `leading`. Splits other texts correctly."""

    def __init__(self, profile: ThinkProfile, tag: str) -> None:
        super().__init__(profile, tag)
        self._tag = tag
        self._whole = profile == "leading"

    def feed(self, piece: str) -> Pieces:
        if self._whole:
            self._pending += piece
        else:
            yield from super().feed(piece)

    def end(self) -> Pieces:
        if not self._whole:
            yield from super().end()
            return
        text, self._pending = self._pending, ""
        self.position = len(text)
        blocks, message = self.parts(text)
        for block in filter(None, map(str.strip, blocks)):
            self._begin_block()
            yield "reasoning", block
        if message:
            self._visible.append((len(text) - len(message), len(text)))
            yield "text", message

    def parts(self, text: str) -> tuple[list[str], str]:
        """Return the blocks and the message."""
        raise NotImplementedError


class RegexSplitter(WholeTextSplitter):
    """Finds the think block at the beginning of a text with the regular expression `pattern`."""

    pattern: ClassVar[str] = r"\s*<{tag}>(.*?)(?:</{tag}>\s*|\Z)"
    flags: ClassVar[re.RegexFlag] = re.DOTALL

    def parts(self, text: str) -> tuple[list[str], str]:
        found = re.match(self.pattern.replace("{tag}", self._tag), text, self.flags)
        return (list(filter(None, found.groups())), text[found.end() :]) if found else ([], text)


class UnicodeCase(RegexSplitter):
    flags = re.DOTALL | re.IGNORECASE


class KelvinSignTakenForK(SplitsWholeTexts):
    """Ignores the case of a tag as Unicode does, so that the Kelvin sign is a k."""

    splitter = UnicodeCase


class LowerCaseOffsets(RegexSplitter):
    def parts(self, text: str) -> tuple[list[str], str]:
        if not text.lstrip().startswith(self._open):
            return [], text
        start = text.index(self._open) + len(self._open)
        end = text.lower().find(self._close, start)
        return ([text[start:]], "") if end < 0 else ([text[start:end]], text[end + len(self._close) :].lstrip())


class OffsetsOfTheTextInLowerCase(SplitsWholeTexts):
    """Takes the offsets of tags from the text in lower case, in which one character may have become two."""

    splitter = LowerCaseOffsets


class AnythingInTheTag(RegexSplitter):
    pattern = r"\s*<{tag}[^>]*>(.*?)(?:</{tag}[^>]*>\s*|\Z)"


class AttributesInTags(SplitsWholeTexts):
    """Takes a tag with anything behind its name for a think tag."""

    splitter = AnythingInTheTag


class ClosedOnly(RegexSplitter):
    pattern = r"\s*<{tag}>(.*?)</{tag}>\s*"


class UnclosedBlockIsText(SplitsWholeTexts):
    """Takes a block for text if nothing closes it."""

    splitter = ClosedOnly


class Greedy(RegexSplitter):
    pattern = r"\s*<{tag}>(?:(.*)</{tag}>\s*|(.*)\Z)"


class LastClosingTagEndsTheBlock(SplitsWholeTexts):
    """Ends a block at the last closing tag."""

    splitter = Greedy


class Balanced(RegexSplitter):
    def parts(self, text: str) -> tuple[list[str], str]:
        if not text.lstrip().startswith(self._open):
            return [], text
        depth = 0
        for found in re.finditer(f"</?{self._tag}>", text):
            depth += -1 if found[0] == self._close else 1
            if not depth:
                return [text[text.index(self._open) + len(self._open) : found.start()]], text[found.end() :].lstrip()
        return [text[text.index(self._open) + len(self._open) :]], ""


class NestedTagsCounted(SplitsWholeTexts):
    """Ends a block only when each opening tag in it is closed."""

    splitter = Balanced


class NoSpaceBefore(RegexSplitter):
    pattern = r"<{tag}>(.*?)(?:</{tag}>\s*|\Z)"


class WhiteSpaceBeforeTheTagMakesItText(SplitsWholeTexts):
    """Takes a tag behind white space for text."""

    splitter = NoSpaceBefore


class LineEndsExpected(RegexSplitter):
    pattern = r"\s*<{tag}>\n(.*?)(?:\n</{tag}>\s*|\Z)"


class TagsOnLinesOfTheirOwn(SplitsWholeTexts):
    """Takes a tag for text if it is not alone on its line."""

    splitter = LineEndsExpected


class EmptyIsNone(RegexSplitter):
    pattern = r"\s*<{tag}>(.+?)(?:</{tag}>\s*|\Z)"

    def parts(self, text: str) -> tuple[list[str], str]:
        blocks, message = super().parts(text)
        return (blocks, message) if any(map(str.strip, blocks)) else ([], text)


class EmptyBlockIsText(SplitsWholeTexts):
    """Takes a block without reasoning for text."""

    splitter = EmptyIsNone


class Everywhere(RegexSplitter):
    def parts(self, text: str) -> tuple[list[str], str]:
        pattern = f"{self._open}(.*?){self._close}"
        if not text.lstrip().startswith(self._open) or self._close not in text:
            return super().parts(text)
        return re.findall(pattern, text, re.DOTALL), re.sub(pattern, "", text, flags=re.DOTALL).lstrip()


class BlocksInTheAnswerRemoved(SplitsWholeTexts):
    """Removes think blocks that are part of the answer, too."""

    splitter = Everywhere


class WithoutEnd(ThinkSplitter):
    def end(self) -> Pieces:
        yield from ()


class HeldBackAtTheEndLost(SplitsStreams):
    """Drops what it still holds back as a possible tag when the stream ends."""

    splitter = WithoutEnd


class DropsNearMisses(ThinkSplitter):
    def _drain_reasoning(self, final: bool) -> Iterator[tuple[Kind, str]]:
        held = getattr(self, "_held", "")
        if held and not self._close.startswith(self._pending[self._at :][: len(self._close)]):
            self._take(len(held))
        yield from super()._drain_reasoning(final)
        self._held = self._pending[self._at :] if self._state == "reasoning" else ""


class NearMissDropped(SplitsStreams):
    """Drops what it held back when it does not become a tag after all."""

    splitter = DropsNearMisses


def _split_at(which: str, place: int) -> type[SplitsStreams]:
    """Return an adapter that does not recognise a tag if a piece ends behind the tag's first `place` characters."""

    class Splitter(ThinkSplitter):
        def _drain_gap(self, final: bool) -> None:
            begun = self._pending[self._at :].lstrip()
            if which == OPENING and len(begun) == place and self._open.startswith(begun):
                self._state = "text"
            else:
                super()._drain_gap(final)

        def _drain_reasoning(self, final: bool) -> Iterator[tuple[Kind, str]]:
            rest, begun = self._pending[self._at :], self._close[:place]
            if which == CLOSING and not final and self._close not in rest and rest.endswith(begun):
                yield "reasoning", self._take(len(rest))
            else:
                yield from super()._drain_reasoning(final)

    name = f"{which.title()}TagSplitBehind{place}"
    about = f"Does not recognise {which} tags that are split behind {place} characters."
    return type(name, (SplitsStreams,), {"splitter": Splitter, "__doc__": about, "__module__": __name__})


SPLIT_TAGS = tuple(
    _split_at(which, place)
    for which, length in ((OPENING, len("<think>")), (CLOSING, len("</think>")))
    for place in range(1, length)
)
"""A tag split in every place."""


class UsualNearMisses(AnythingInTheTag):
    pattern = r"\s*<{tag}s?>(.*?)(?:</{tag}?s?>\s*|\Z)"


class NearMissesOfAnotherTag(SplitsWholeTexts):
    """Takes tags whose names differ from `thought` by one letter for think tags."""

    apis = ("gemini:chat",)
    splitter = UsualNearMisses


SPLITTERS: tuple[type[FaultySplitter], ...] = (
    KelvinSignTakenForK,
    OffsetsOfTheTextInLowerCase,
    AttributesInTags,
    UnclosedBlockIsText,
    LastClosingTagEndsTheBlock,
    NestedTagsCounted,
    WhiteSpaceBeforeTheTagMakesItText,
    TagsOnLinesOfTheirOwn,
    EmptyBlockIsText,
    BlocksInTheAnswerRemoved,
    HeldBackAtTheEndLost,
    NearMissDropped,
    NearMissesOfAnotherTag,
    *SPLIT_TAGS,
)
"""Faults that generated inputs have to find within the effort `ci`."""
