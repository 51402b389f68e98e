"""Splitting text into reasoning between think tags and visible text, wherever the text is cut into pieces.

Only for models that are known to write think tags (`think_profile`):

* `leading`: one or several adjacent blocks at the very beginning; later tags are part of the message.
* `prefilled`: as `leading`, but the prompt ends with the opening tag, so the text begins inside the block.
* `anywhere`: blocks at any position.

Tags match regardless of ASCII case. Reasoning is stripped of its outer white space, and the text of the white space
after a block. In a block that is never closed, everything is reasoning.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Literal

from llm_conformance.contract.call import ThinkProfile

TAG = "think"
# ASCII only: str.lower() also maps the Kelvin sign to k, and makes two characters of a dotted capital I.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

Kind = Literal["text", "reasoning"]

_AT_ONCE = 1024
"""How many code points of a piece are looked through at once: what is left is copied behind each tag."""


class ThinkSplitter:
    """Takes pieces of text and yields pieces of text and reasoning.

    Attributes:
        block: The number of the current or last think block, from 1.
        position: How many code points have been consumed.
    """

    def __init__(self, profile: ThinkProfile, tag: str = TAG) -> None:
        self._open, self._close = f"<{tag}>", f"</{tag}>"
        self._anywhere = profile == "anywhere"
        self._state = {"off": "text", "prefilled": "prefilled"}.get(profile, "start")
        self._pending = ""
        self.position = 0
        self._space = ""
        self._block_is_empty = True
        self._visible: list[tuple[int, int]] = []
        self.block = 0

    def feed(self, piece: str) -> Iterator[tuple[Kind, str]]:
        """Take a piece. Text that may be the beginning of a tag is held back."""
        for start in range(0, len(piece), _AT_ONCE):
            self._pending += piece[start : start + _AT_ONCE]
            yield from self._drain(final=False)

    def end(self) -> Iterator[tuple[Kind, str]]:
        """Take the end of the text, and release the held-back text."""
        yield from self._drain(final=True)

    def rebase(self, start: int, end: int) -> tuple[int, int] | None:
        """Convert a span of the original text to one of the visible text, or None if none of it is visible."""
        if start < end and not any(start < last and first < end for first, last in self._visible):
            return None
        return self._moved(start), self._moved(end)

    def _moved(self, offset: int) -> int:
        return sum(min(offset, last) - first for first, last in self._visible if first < offset)

    def _take(self, length: int) -> str:
        taken, self._pending = self._pending[:length], self._pending[length:]
        self.position += length
        return taken

    def _drain(self, final: bool) -> Iterator[tuple[Kind, str]]:
        while self._pending:
            before = (self._state, len(self._pending))
            if self._state == "text":
                yield from self._drain_text(final)
            elif self._state == "reasoning":
                yield from self._drain_reasoning(final)
            else:
                self._drain_gap(final)
            if (self._state, len(self._pending)) == before:
                return

    def _drain_gap(self, final: bool) -> None:
        """Consume white space, then perhaps a tag: before the text, or after a block."""
        rest = self._pending.lstrip()
        lowered = rest.translate(_LOWER)
        space = len(self._pending) - len(rest)
        if lowered.startswith(self._open):
            self._take(space + len(self._open))
            self._begin_block()
        elif self._open.startswith(lowered) and not final:
            return
        elif self._state == "prefilled":
            self._begin_block()
        else:
            if self._state == "after":
                self._take(space)
            self._state = "text"

    def _begin_block(self) -> None:
        self._state = "reasoning"
        self._space = ""
        self._block_is_empty = True
        self.block += 1

    def _drain_reasoning(self, final: bool) -> Iterator[tuple[Kind, str]]:
        at = self._pending.translate(_LOWER).find(self._close)
        closed = at >= 0
        inner = self._take(
            at if closed else len(self._pending) - (0 if final else _held_back(self._pending, self._close))
        )
        kept = self._space + inner
        if self._block_is_empty:
            kept = kept.lstrip()
        trimmed = kept.rstrip()
        self._space = kept[len(trimmed) :]
        if trimmed:
            self._block_is_empty = False
            yield "reasoning", trimmed
        if closed:
            self._take(len(self._close))
            self._state = "after"

    def _drain_text(self, final: bool) -> Iterator[tuple[Kind, str]]:
        at = self._pending.translate(_LOWER).find(self._open) if self._anywhere else -1
        held_back = _held_back(self._pending, self._open) if self._anywhere and not final else 0
        length = at if at >= 0 else len(self._pending) - held_back
        if length:
            self._visible.append((self.position, self.position + length))
            yield "text", self._take(length)
        if at >= 0:
            self._take(len(self._open))
            self._begin_block()


def _held_back(text: str, tag: str) -> int:
    """Return the length of the longest end of `text` that is a beginning of `tag`."""
    lowered = text[-len(tag) :].translate(_LOWER)
    return next((length for length in range(min(len(tag) - 1, len(text)), 0, -1) if lowered.endswith(tag[:length])), 0)
