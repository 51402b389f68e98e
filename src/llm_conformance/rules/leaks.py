"""Telling a leak from a coincidence.

A bare substring search is no evidence: "4" may be both the answer and a word of the reasoning. Only what an adapter
added to the true answer is searched, and only for runs of `SIGNIFICANT` code points.
"""

from __future__ import annotations

SIGNIFICANT = 8
"""How many code points in a row count as a piece of somebody's text."""

_TAGS = ("<think>", "</think>", "<thought>", "</thought>")


def added_to(expected: str, actual: str) -> str:
    """Return what `actual` has between the longest beginning and the longest end that it shares with `truth`."""
    shortest = min(len(expected), len(actual))
    start = 0
    while start < shortest and expected[start] == actual[start]:
        start += 1
    end = 0
    while end < shortest - start and expected[-1 - end] == actual[-1 - end]:
        end += 1
    return actual[start : len(actual) - end]


def leaked_from(reasoning: str, actual: str, expected: str) -> str | None:
    """Return a piece of reasoning, or of a tag around it, that `actual` has and the true message has not."""
    added = added_to(expected, actual)
    for tag in _TAGS:
        if actual.lower().count(tag) > expected.lower().count(tag):
            return tag
    trace = reasoning.strip()
    length = min(SIGNIFICANT, len(trace))
    if not length:
        return None
    pieces = {trace[at : at + length] for at in range(len(trace) - length + 1)}
    for at in range(len(added) - length + 1):
        piece = added[at : at + length]
        if piece in pieces and actual.count(piece) > expected.count(piece):
            return piece
    return None
