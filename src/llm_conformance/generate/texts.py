"""Texts that adapters trip over.

Answers and reasoning have disjoint alphabets: a single letter of one in the other is a leak. They share the hard
characters: beginnings of tags, characters of several code points or UTF-16 units, line separators, and two that a
careless change of case changes. Characters that are white space in some languages only (U+001C to U+001F, U+FEFF) are
left out, because trimming them is not an error; U+0085 stands between letters.
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
"""Letters that only answers have. The last is a line end for `str.splitlines`, which must not split a JSON line."""

REASONING = ("α", "β", "Γ", "ξ", ";", "α\u0085β")
"""Letters that only reasoning has."""

HARD = (
    *(" ", "\n", "<", "/", "`", '"', "\\"),
    *("é", "e\u0301", "漢", "ש", "\u2028", "\u00a0"),
    *("😀", "👩\u200d🚀", "🇳🇴"),  # one code point, three, two; two UTF-16 units each of them
    *("\u212a", "\u0130"),  # the Kelvin sign, and an I that is two characters in lower case
)
"""Characters that both have."""

_OTHER_NAMES = {"think": ("thing", "thinking"), "thought": ("though", "thoughts", "thoughtful")}
"""Names that a careless splitter takes for the name of a think tag."""


def near_misses(tag: str = TAG) -> tuple[str, ...]:
    """Return texts that a careless splitter takes for a think tag, or holds back for ever."""
    names = [*_OTHER_NAMES.get(tag, ()), *([tag.replace("k", "\u212a")] if "k" in tag else [])]
    whole = [f"<{slash}{name}>" for name in names for slash in ("/", "")]
    return (*whole, f"<{tag[:-2]}", f"</{tag[:-1]}", f"<{tag} >", f"</{tag} type=a>")


def begun_tags(tag: str = TAG) -> tuple[str, ...]:
    """Return beginnings of a closing think tag. Where a text ends with one, it is part of the text."""
    return ("<", f"</{tag[:-1]}")


def tags(tag: str = TAG) -> tuple[str, ...]:
    """Return think tags. They are text if the think profile is `off`, or if reasoning has a field of its own."""
    return (f"<{tag}>", f"</{tag}>", f"`<{tag}>`")


def answers(max_size: int = 6, tag: str = TAG) -> SearchStrategy[str]:
    """Return a strategy for answers of at most `max_size` pieces, think tags among them. An answer may be empty."""
    pairs = (f"<{tag}>a</{tag}>", f"<{tag}>\nb.</{tag}>\n")
    return _joined((*ANSWER, *HARD, *near_misses(tag), *tags(tag), *pairs, "None", "[DONE]", "\r\n"), max_size)


def reasonings(max_size: int = 6) -> SearchStrategy[str]:
    """Return a strategy for reasoning in a field of its own, with think tags and white space at its ends."""
    return _joined((*REASONING, *HARD, *near_misses(), *tags()), max_size)


def tagless(letters: tuple[str, ...], tag: str = TAG) -> SearchStrategy[str]:
    """Return a strategy for texts without think tags, but with what looks like one."""
    return _joined((*letters, *HARD, *near_misses(tag)), 5)


# Creating a strategy costs more than drawing from it.
@functools.cache
def _joined(pieces: tuple[str, ...], max_size: int) -> SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=max_size).map("".join)


def pieces(draw: DrawFn, text: str) -> list[str]:
    """Draw a way to send a text in pieces, none of them empty. An empty text has no pieces.

    The cuts are anywhere, or within what looks like a tag, or between any two characters.
    """
    if not text:
        return []
    numbers = draw(_NUMBERS)
    way = pick(draw, "anywhere", "anywhere", "in tags", "everywhere") if numbers and len(text) > 1 else "whole"
    # The same numbers mean similar cuts in a shorter text; otherwise Hypothesis could not shrink the text.
    if way == "anywhere":
        cuts = {1 + min(number, len(text) - 2) for number in numbers}
    elif way == "in tags":
        cuts = {tag.start() + 1 + number % (len(tag[0]) - 1) for tag in _TAG.finditer(text) for number in numbers}
    else:
        cuts = set(range(1, len(text))) if way == "everywhere" else set()
    return [text[start:end] for start, end in pairwise((0, *sorted(cuts), len(text)))]


_TAG = re.compile("</?[a-zA-Z\u0130\u212a]+ ?>?")


_NUMBERS = st.lists(st.integers(0, 24), max_size=4)
