"""How a rule reports that it is broken, or that it has nothing to judge."""

from __future__ import annotations

import re
from typing import Any, NoReturn, get_args

from llm_conformance.compare import encodable, first_difference, in_one_line, same, show
from llm_conformance.contract.response import FinishReason


class Violation(AssertionError):  # noqa: N818 - `raise Violation` reads well in a rule
    """A broken rule.

    Args:
        expected: What the rule expected, to follow the word "expected".
        actual: What it found, to follow the word "got".
        where: The part of the response, stream or error that is wrong; "" for the whole.
        hint: What may help to find the cause; "" for nothing.
        cause: What failures with the same cause have in common; without it, the message with its values taken out.
        traceback: How an exception came to the caller; None if there was none.
    """

    def __init__(
        self,
        expected: str,
        actual: str,
        where: str = "",
        hint: str = "",
        cause: str | None = None,
        traceback: str | None = None,
    ) -> None:
        expected, actual = encodable(expected), encodable(actual)
        super().__init__(f"expected {expected}; got {actual}" + (f" ({hint})" if hint else ""))
        self.expected = expected
        self.actual = actual
        self.where = where
        self.hint = hint
        self.cause = cause or without_values(f"expected {expected}; got {actual}")
        self.traceback = traceback


class Vacuous(Exception):  # noqa: N818
    """The exchange gives the rule nothing to judge; the message says why."""


class Blocked(Exception):  # noqa: N818
    """The rule cannot judge because of a failure that another rule reports; the message says which."""


def fail(
    expected: str,
    actual: str,
    where: str = "",
    hint: str = "",
    cause: str | None = None,
    traceback: str | None = None,
) -> NoReturn:
    """Raise a Violation."""
    raise Violation(expected, actual, where, hint, cause, traceback)


def expect_equal(what: str, actual: Any, expected: Any, where: str = "", hint: str = "") -> None:
    """Raise a Violation unless the two values are equal; `what` names them. True is not 1, but 1.0 is."""
    if same(actual, expected):
        return
    raise Violation(f"{what} {show(expected)}", show(actual), where, hint)


def expect_text(what: str, actual: str | None, expected: str | None, where: str = "") -> None:
    """Raise a Violation unless two texts are equal; it shows the first code point at which they differ."""
    if actual == expected:
        return
    if actual is None or expected is None:
        raise Violation(f"{what} {show(expected)}", show(actual), where)
    at = first_difference(actual, expected)
    raise Violation(
        f"{what} of {len(expected)} code points: {_around(expected, at)}",
        f"{len(actual)} code points: {_around(actual, at)}",
        where,
        f"they differ at code point {at}",
    )


def _around(text: str, at: int) -> str:
    start = max(0, at - 20)
    piece = in_one_line(text[start : at + 40])
    return ("..." if start else "") + piece + ("..." if at + 40 < len(text) else "")


_TEXT = r'(?:\.\.\.)?"(?:[^"\\]|\\.)*"(?:\.\.\.)?'
_QUOTED = r"(?<!\w)'(?:[^'\\]|\\.)*'"
_NUMBER = r"(?<![\w-])-?\d+(?:\.\d+)?(?!\w)"
_ADDRESS = r"\b0x[0-9a-fA-F]+\b"
_VALUE = re.compile(f"{_TEXT}|{_QUOTED}|{_ADDRESS}|{_NUMBER}")
_LIST_OR_OBJECT = re.compile(r"\[[^\[\]{}]+\]|\{[^\[\]{}]+\}")
_CUT_OFF = re.compile(r"[\[{](?![\]}])(?:(?!; got ).)+(?=; got |$)", re.DOTALL)
"""A list or an object of which the message shows only a part."""
_DEEPEST = 10
_KEPT = frozenset({'""', "''", *(f'"{each}"' for each in get_args(FinishReason))})
"""Values that tell one cause from another."""


def without_values(text: str) -> str:
    """Return a message with each text, number, list and object replaced by a mark, so that like messages are equal."""
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
