"""Split a text at think tags into the visible text and the reasoning.

Tags are matched without regard to case, but only for ASCII letters (the Kelvin sign is no K). White space is that of
Unicode.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.wire.providers.api import TAG

_OPEN, _INNER = "(?ai:<{tag}>)", r"(?P<inner>.*?)(?:(?ai:</{tag}>)\s*|\Z)"
_PATTERNS: Mapping[str, str] = {
    "leading": rf"\s*{_OPEN}{_INNER}",
    "anywhere": rf"(?:\A\s*)?{_OPEN}{_INNER}",
    "prefilled": rf"\s*(?:{_OPEN})?{_INNER}",
}


def split(text: str, profile: ThinkProfile, tag: str = TAG) -> tuple[str, list[str]]:
    """Return the visible text and the reasoning blocks of a text.

    White space around a block's reasoning is removed, and so is white space in the visible text after a block.
    """
    blocks = _blocks(text, profile, tag)
    if profile == "anywhere":
        visible = _pattern(profile, tag).sub("", text)
    else:
        visible = text[blocks[-1].end() :] if blocks else text
    return visible, [inner for block in blocks if (inner := block["inner"].strip())]


def reasoning_spans(text: str, profile: ThinkProfile, tag: str = TAG) -> list[tuple[int, int]]:
    """Return (start, end) of each reasoning block without outer white space, in code points of the text."""
    return [
        (block.end("inner") - len(block["inner"].lstrip()), block.start("inner") + len(block["inner"].rstrip()))
        for block in _blocks(text, profile, tag)
        if block["inner"].strip()
    ]


def begins_with_tag(text: str, tag: str = TAG) -> bool:
    """Return True if a text begins with an opening tag. White space before it is ignored."""
    return re.match(rf"\s*(?ai:<{tag}>)", text) is not None


def is_closed(text: str, tag: str = TAG) -> bool:
    """Return True if a text has a closing tag."""
    return re.search(rf"(?ai:</{tag}>)", text) is not None


def closes_unopened(text: str, tag: str = TAG) -> bool:
    """Return True if the first tag is a closing tag. Then the prompt has the opening tag, or the text quotes a tag."""
    first = re.search(rf"(?ai:</?{tag}>)", text)
    return first is not None and first[0].startswith("</")


def closes_on_a_line_of_its_own(text: str, tag: str = TAG) -> bool:
    """Return True if `closes_unopened` and the tag is alone on its line. Then it is not a quotation."""
    return closes_unopened(text, tag) and re.search(rf"(?aim:^[ \t]*</{tag}>[ \t]*$)", text) is not None


def has_only_a_leading_block(text: str, tag: str = TAG) -> bool:
    """Return True if a text has one block, at its start, and no further tags. Its opening tag may be in the prompt."""
    tags = [found[0][1] == "/" for found in re.finditer(rf"(?ai:</?{tag}>)", text)]
    return tags == [True] or (tags in ([False], [False, True]) and begins_with_tag(text, tag))


def removed_spans(text: str, message: str, profile: ThinkProfile, tag: str = TAG) -> list[tuple[int, int]]:
    """Return (start, end) of each part of `text` that `split` removed to get `message`, in code points."""
    if message == text:
        return []
    if profile == "anywhere":
        return [block.span() for block in _pattern(profile, tag).finditer(text)]
    return [(0, len(text) - len(message))]


@functools.cache
def _pattern(profile: ThinkProfile, tag: str) -> re.Pattern[str]:
    return re.compile(_PATTERNS[profile].replace("{tag}", tag), re.DOTALL)


def _blocks(text: str, profile: ThinkProfile, tag: str) -> list[re.Match[str]]:
    """Return all blocks of a text, the blank ones too. The group `inner` is what is between the tags."""
    if profile == "anywhere":
        return list(_pattern(profile, tag).finditer(text))
    blocks: list[re.Match[str]] = []
    current, position = profile, 0
    while current != "off" and (block := _pattern(current, tag).match(text, position)):
        blocks.append(block)
        current, position = "leading", block.end()
    return blocks
