"""Take the values out of messages, so that messages with the same cause are equal."""

from __future__ import annotations

import re
from typing import get_args

from llm_conformance.contract.response import FinishReason

_TEXT = r'(?:\.\.\.)?"(?:[^"\\]|\\.)*"(?:\.\.\.)?'
_QUOTED = r"(?<!\w)'(?:[^'\\]|\\.)*'"
_NUMBER = r"(?<![\w-])-?\d+(?:\.\d+)?(?!\w)"
_ADDRESS = r"\b0x[0-9a-fA-F]+\b"
_VALUE = re.compile(f"{_TEXT}|{_QUOTED}|{_ADDRESS}|{_NUMBER}")
_LIST_OR_OBJECT = re.compile(r"\[[^\[\]{}]+\]|\{[^\[\]{}]+\}")
_CUT_OFF = re.compile(r"[\[{](?![\]}])(?:(?!; got ).)+(?=; got |$)", re.DOTALL)
"""A list or an object that the message shows only in part."""
_DEEPEST = 10
_KEPT = frozenset({'""', "''", *(f'"{each}"' for each in get_args(FinishReason))})
"""Values that are kept, because they tell one cause from another."""


def without_values(text: str) -> str:
    """Replace texts, numbers, lists and objects in a message by marks, so that messages of the same kind are equal."""
    text = _VALUE.sub(_mark, text)
    for _ in range(_DEEPEST):
        text, count = _LIST_OR_OBJECT.subn("…", text)
        if not count:
            break
    return _CUT_OFF.sub("…", text)


def _mark(found: re.Match[str]) -> str:
    value = found[0]
    if value in _KEPT:
        return value
    if value[0] == "'":
        return "'…'"
    return '"…"' if value[-1] in '".' else "N"
