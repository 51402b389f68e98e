"""Write untrusted texts into Markdown, so that nothing in them is markup, a control character or a line break."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llm_conformance.wording import printable

_LONGEST = 200
_MARKUP = re.compile(r"[\\`*_\[\]<>|&~#]")
_RUN_OF_BACKTICKS = re.compile("`+")


def escaped(text: str) -> str:
    """Return a text in one line with its markup and its control characters escaped."""
    return _MARKUP.sub(r"\\\g<0>", printable(" ".join(text.split())))


def in_one_line(text: str | None) -> str:
    """Return a text in one line with its markup escaped, shortened so that it fits in a table."""
    line = escaped(text or "")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip(chr(92))} ..."


def in_link(url: str | None) -> str:
    """Return a URL with the characters escaped that would end a link or the field of a table."""
    return re.sub(r"[()<>|\\\s\x00-\x1f]", lambda found: f"%{ord(found[0]):02X}", url or "")


def fence(lines: Iterable[str]) -> str:
    """Return enough backticks for a block of these lines, so that none of the lines ends it."""
    longest = max(map(len, _RUN_OF_BACKTICKS.findall("\n".join(lines))), default=0)
    return "`" * max(3, longest + 1)
