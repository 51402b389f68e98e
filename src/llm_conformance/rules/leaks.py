"""Find reasoning in a message.

Searching the message for words of the reasoning proves nothing: "4" may be both the answer and a word of the reasoning.
So the search looks only at the text that an adapter added to the expected message. It looks for `SIGNIFICANT` code
points in a row that the reasoning has, too.
"""

from __future__ import annotations

import re

from llm_conformance.compare import without_space

SIGNIFICANT = 8
"""How many equal code points in a row count as a piece of the reasoning."""

_TAG = re.compile(r"</?(?:think|thought)>", re.IGNORECASE | re.ASCII)


def added_to(expected: str, actual: str) -> str:
    """Return `actual` without the longest beginning and the longest end that it shares with `expected`."""
    shortest = min(len(expected), len(actual))
    start = 0
    while start < shortest and expected[start] == actual[start]:
        start += 1
    end = 0
    while end < shortest - start and expected[-1 - end] == actual[-1 - end]:
        end += 1
    return actual[start : len(actual) - end]


def leaked_from(reasoning: str, actual: str, expected: str) -> str | None:
    """Return a piece of the reasoning, or a tag around it, that is in `actual` and not in `expected`; else None.

    A piece that the expected message contains does not count: the adapter may have repeated text or added white space,
    which MSG-2 reports.
    """
    own = {tag.lower() for tag in _TAG.findall(expected)}
    tags: list[str] = _TAG.findall(actual)
    if tag := next((tag for tag in tags if tag.lower() not in own), None):
        return tag
    trace = reasoning.strip()
    length = min(SIGNIFICANT, len(trace))
    if not length:
        return None
    pieces = {trace[at : at + length] for at in range(len(trace) - length + 1)}
    added = added_to(expected, actual)
    found = (added[at : at + length] for at in range(len(added) - length + 1))
    answer = without_space(expected)
    return next((piece for piece in found if piece in pieces and without_space(piece) not in answer), None)
