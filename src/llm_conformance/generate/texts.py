"""Texts that adapters stumble over.

Answers and reasoning are drawn from disjoint alphabets, so that a letter of the one in the other is a leak, however
short it is. Both share the hard characters: beginnings of tags, characters of several code points or UTF-16 units,
line separators, and two that change under a careless change of case. White space that some languages know and others
do not (U+001C to U+001F, U+0085, U+FEFF) is left out: whether it is trimmed decides nothing.
"""

from __future__ import annotations

import functools
import re
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.generate.chance import pick

ANSWER = ("a", "b", "C", "7", ".")
"""Letters of answers only."""

REASONING = ("α", "β", "Γ", "ξ", ";")
"""Letters of reasoning only."""

HARD = (
    *(" ", "\n", "<", "/", "`", '"', "\\"),
    *("é", "e\u0301", "漢", "ש", "\u2028", "\u00a0"),
    *("😀", "👩\u200d🚀", "🇳🇴"),  # one code point, three, two; two UTF-16 units each of them
    *("\u212a", "\u0130"),  # the Kelvin sign, and an I that is two characters in lower case
)
"""Characters of either."""

NOT_TAGS = ("</thing>", "<thi", "</thin", "<thinking>", "<think >", "</think type=a>", "<thin\u212a>", "</thin\u212a>")
"""What a careless splitter takes for a think tag, or holds back for ever."""

TAGS = ("<think>", "</think>", "`<think>`")
"""What is no tag where the model is not known to think in its text, or thinks in a field of its own."""


PAIRS = ("<think>a</think>", "<think>\nb.</think>\n")
"""Think blocks that are none, as an answer about such tags has them."""


def answers(max_size: int = 6) -> SearchStrategy[str]:
    """Return texts of at most `max_size` pieces for an answer, think tags included; "" among them."""
    return _joined((*ANSWER, *HARD, *NOT_TAGS, *TAGS, *PAIRS, "None", "[DONE]", "\r\n"), max_size)


def reasonings(max_size: int = 6) -> SearchStrategy[str]:
    """Return texts for reasoning in a field of its own: closing tags, and white space at its ends, belong to it."""
    return _joined((*REASONING, *HARD, *NOT_TAGS, *TAGS), max_size)


def tagless(letters: tuple[str, ...], max_size: int = 5) -> SearchStrategy[str]:
    """Return texts without any think tag, but with what looks like one."""
    return _joined((*letters, *HARD, *NOT_TAGS), max_size)


# Strategies are kept: to make one costs more than to draw from it.
@functools.cache
def _joined(pieces: tuple[str, ...], max_size: int) -> SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=max_size).map("".join)


def pieces(draw: DrawFn, text: str) -> list[str]:
    """Draw a way to send a text in pieces, none of them empty; no piece for no text.

    Cuts are anywhere, or inside of what is or looks like a tag, or between any two characters.
    """
    if not text:
        return []
    numbers = draw(_NUMBERS)
    way = pick(draw, "anywhere", "anywhere", "in tags", "everywhere") if numbers and len(text) > 1 else "whole"
    # What the numbers mean must change little with the text, or a text could not be made smaller.
    if way == "anywhere":
        cuts = {1 + min(number, len(text) - 2) for number in numbers}
    elif way == "in tags":
        cuts = {tag.start() + 1 + number % (len(tag[0]) - 1) for tag in _TAG.finditer(text) for number in numbers}
    else:
        cuts = set(range(1, len(text))) if way == "everywhere" else set()
    return [text[start:end] for start, end in pairwise((0, *sorted(cuts), len(text)))]


_TAG = re.compile("</?[a-zA-Z\u0130\u212a]+ ?>?")


_NUMBERS = st.lists(st.integers(0, 24), max_size=4)
