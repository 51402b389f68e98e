"""Split text into visible text and reasoning between think tags, wherever the text is cut into pieces.

This is only for models that are known to write think tags (`think_profile`):

* `leading`: one or several adjacent blocks at the very beginning; later tags are part of the message.
* `prefilled`: like `leading`, but the prompt ends with the opening tag, so the text begins inside the block.
* `anywhere`: blocks at any position.

The ASCII case of tags is ignored. White space around the reasoning is removed, and so is white space directly after a
block. If a block is never closed, everything in it is reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from llm_conformance.contract.call import ThinkProfile

TAG = "think"
_SPACE = re.compile(r"\s*")

Kind = Literal["text", "reasoning"]


class ThinkSplitter:
    """Takes pieces of text, and yields pieces of visible text and of reasoning.

    Attributes:
        block: The number of the current or last think block, from 1.
        position: How many code points have been consumed.
    """

    def __init__(self, profile: ThinkProfile, tag: str = TAG) -> None:
        self._open, self._close = f"<{tag}>", f"</{tag}>"
        self._opening, self._closing = Tag(self._open), Tag(self._close)
        self._anywhere = profile == "anywhere"
        self._state = {"off": "text", "prefilled": "prefilled"}.get(profile, "start")
        self._pending = ""
        self._at = 0
        self._space_in_gap = 0
        self.position = 0
        self._space: list[str] = []
        self._block_is_empty = True
        self._visible: list[tuple[int, int]] = []
        self.block = 0

    def feed(self, piece: str) -> Iterator[tuple[Kind, str]]:
        """Take a piece. Text that may be the beginning of a tag is held back."""
        self._pending += piece
        yield from self._drain(final=False)
        self._pending, self._at = self._pending[self._at :], 0

    def end(self) -> Iterator[tuple[Kind, str]]:
        """Take the end of the text, and release the held-back text."""
        yield from self._drain(final=True)

    def rebase(self, start: int, end: int) -> tuple[int, int] | None:
        """Convert a span of the original text to a span of the visible text; None if no part of it is visible."""
        if start < end and not any(start < last and first < end for first, last in self._visible):
            return None
        return self._moved(start), self._moved(end)

    def _moved(self, offset: int) -> int:
        return sum(min(offset, last) - first for first, last in self._visible if first < offset)

    def _take(self, length: int) -> str:
        start, self._at = self._at, self._at + length
        self.position += length
        return self._pending[start : self._at]

    def _drain(self, final: bool) -> Iterator[tuple[Kind, str]]:
        while self._at < len(self._pending):
            before = (self._state, self._at)
            if self._state == "text":
                yield from self._drain_text(final)
            elif self._state == "reasoning":
                yield from self._drain_reasoning(final)
            else:
                self._drain_gap(final)
            if (self._state, self._at) == before:
                return

    def _drain_gap(self, final: bool) -> None:
        """Consume white space and then maybe a tag, before the text or after a block."""
        seen = _SPACE.match(self._pending, self._at + self._space_in_gap)
        begin = seen.end() if seen else self._at
        space = begin - self._at
        if self._opening.is_at(self._pending, begin):
            self._take(space + len(self._open))
            self._begin_block()
        elif self._opening.may_begin_at(self._pending, begin) and not final:
            self._space_in_gap = space
        elif self._state == "prefilled":
            self._begin_block()
        else:
            if self._state == "after":
                self._take(space)
            self._state = "text"

    def _begin_block(self) -> None:
        self._state = "reasoning"
        self._space = []
        self._space_in_gap = 0
        self._block_is_empty = True
        self.block += 1

    def _drain_reasoning(self, final: bool) -> Iterator[tuple[Kind, str]]:
        at = self._closing.find(self._pending, self._at)
        kept = self._take(self._until(at, self._closing, final))
        if self._block_is_empty:
            kept = kept.lstrip()
        trimmed = kept.rstrip()
        if trimmed:
            yield "reasoning", "".join([*self._space, trimmed])
            self._block_is_empty = False
            self._space = []
        self._space.append(kept[len(trimmed) :])
        if at is not None:
            self._take(len(self._close))
            self._state = "after"

    def _drain_text(self, final: bool) -> Iterator[tuple[Kind, str]]:
        at = self._opening.find(self._pending, self._at) if self._anywhere else None
        length = self._until(at, self._opening, final or not self._anywhere)
        if length:
            self._visible.append((self.position, self.position + length))
            yield "text", self._take(length)
        if at is not None:
            self._take(len(self._open))
            self._begin_block()

    def _until(self, at: int | None, tag: Tag, final: bool) -> int:
        """Return the length of the text before a tag.

        If there is no tag, it ends before what may be the beginning of a tag.
        """
        if at is not None:
            return at - self._at
        return len(self._pending) - self._at - (0 if final else tag.held_back(self._pending, self._at))


class Tag:
    """A tag in any ASCII case. `str.lower` would map the Kelvin sign to k, and a dotted I to two characters."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._pattern = re.compile(f"<(?i:{re.escape(tag[1:-1])})>", re.ASCII)
        self._beginnings = [re.compile(f"<(?i:{re.escape(tag[1:length])})", re.ASCII) for length in range(1, len(tag))]

    def __len__(self) -> int:
        return len(self._tag)

    def find(self, text: str, start: int) -> int | None:
        """Return the first offset of the tag from `start` on; None if there is none."""
        found = self._pattern.search(text, start)
        return found.start() if found else None

    def is_at(self, text: str, at: int) -> bool:
        """Return True if the tag is at an offset."""
        return self._pattern.match(text, at) is not None

    def may_begin_at(self, text: str, at: int) -> bool:
        """Return True if the rest of the text is a beginning of the tag. An empty rest is a beginning, too."""
        left = len(text) - at
        return left == 0 or (left < len(self) and self._beginnings[left - 1].match(text, at) is not None)

    def held_back(self, text: str, start: int) -> int:
        """Return the length of the longest end of the text, from `start` on, that is a beginning of the tag."""
        at = text.rfind("<", max(start, len(text) - len(self) + 1))
        return len(text) - at if at >= 0 and self.may_begin_at(text, at) else 0
