"""Texts that are hard for adapters.

Answers and reasoning have disjoint alphabets, so that a single letter of one in the other is a leak. Both have the hard
characters: beginnings of tags, characters of several code points or UTF-16 units, line separators, and two that change
with a careless change of case. Characters that are white space only in some programming languages (U+001C to U+001F,
U+FEFF) are left out, because trimming them is not an error. For the same reason, U+0085 is always between letters.
"""

from __future__ import annotations

import functools
import re
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.generate.chance import pick
from llm_conformance.wire.providers.api import TAG

ANSWER = ("a", "b", "C", "7", ".", "a\u0085b")
"""Letters that only answers have. The last has U+0085, which ends a line for `str.splitlines`, but not in JSON."""

REASONING = ("α", "β", "Γ", "ξ", ";", "α\u0085β")
"""Letters that only reasoning has."""

HARD = (
    *(" ", "\n", "<", "/", "`", '"', "\\"),
    *("é", "e\u0301", "漢", "ש", "\u2028", "\u00a0"),
    *("😀", "👩\u200d🚀", "🇳🇴"),  # of one, three and two code points: two UTF-16 units each, but for the joiner
    *("\u212a", "\u0130"),  # the Kelvin sign, and an I that is two characters in lower case
)
"""Characters that answers and reasoning share."""

_OTHER_NAMES = {"think": ("thing", "thinking"), "thought": ("though", "thoughts", "thoughtful")}
"""Maps the name of a think tag to names that a careless splitter takes for it."""


def near_misses(tag: str = TAG) -> tuple[str, ...]:
    """Return texts that a careless splitter takes for a think tag, or holds back for ever."""
    names = [*_OTHER_NAMES.get(tag, ()), *([tag.replace("k", "\u212a")] if "k" in tag else [])]
    whole = [f"<{slash}{name}>" for name in names for slash in ("/", "")]
    return (*whole, f"<{tag[:-2]}", f"</{tag[:-1]}", f"<{tag} >", f"</{tag} type=a>")


def begun_tags(tag: str = TAG) -> tuple[str, ...]:
    """Return beginnings of a closing think tag. At the end of a text they are part of the text."""
    return ("<", f"</{tag[:-1]}")


def tags(tag: str = TAG) -> tuple[str, ...]:
    """Return think tags. They are text if the think profile is `off`, or if reasoning has a field of its own."""
    return (f"<{tag}>", f"</{tag}>", f"`<{tag}>`")


def answers(max_size: int = 6, tag: str = TAG) -> SearchStrategy[str]:
    """Return a strategy for answers of at most `max_size` pieces, which may be think tags. An answer may be empty."""
    pairs = (f"<{tag}>a</{tag}>", f"<{tag}>\nb.</{tag}>\n")
    return _joined((*ANSWER, *HARD, *near_misses(tag), *tags(tag), *pairs, "None", "[DONE]", "\r\n"), max_size)


def reasonings(max_size: int = 6) -> SearchStrategy[str]:
    """Return a strategy for reasoning in a field of its own. It may have think tags, and white space at its ends."""
    return _joined((*REASONING, *HARD, *near_misses(), *tags()), max_size)


def tagless(letters: tuple[str, ...], tag: str = TAG) -> SearchStrategy[str]:
    """Return a strategy for texts without think tags, but with texts that look like tags."""
    return _joined((*letters, *HARD, *near_misses(tag)), 5)


# Cached: to create a strategy takes longer than to draw from it.
@functools.cache
def _joined(pieces: tuple[str, ...], max_size: int) -> SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=max_size).map("".join)


def pieces(draw: DrawFn, text: str) -> list[str]:
    """Draw the pieces in which a text is sent. No piece is empty, and an empty text has no pieces.

    The cuts are anywhere, within texts that look like tags, or between all characters.
    """
    if not text:
        return []
    numbers = draw(_NUMBERS)
    way = pick(draw, "anywhere", "anywhere", "in tags", "everywhere") if numbers and len(text) > 1 else "whole"
    # The same numbers give similar cuts in a shorter text. Otherwise Hypothesis could not shrink the text.
    if way == "anywhere":
        cuts = {1 + min(number, len(text) - 2) for number in numbers}
    elif way == "in tags":
        cuts = {tag.start() + 1 + number % (len(tag[0]) - 1) for tag in _TAG.finditer(text) for number in numbers}
    else:
        cuts = set(range(1, len(text))) if way == "everywhere" else set()
    return [text[start:end] for start, end in pairwise((0, *sorted(cuts), len(text)))]


_TAG = re.compile("</?[a-zA-Z\u0130\u212a]+ ?>?")


_NUMBERS = st.lists(st.integers(0, 24), max_size=4)
