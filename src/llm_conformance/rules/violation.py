"""How a rule says that it is broken, or that it has nothing to look at."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from llm_conformance.compare import encodable, first_difference, same, show


class Violation(AssertionError):  # noqa: N818 - reads as what it is in a rule
    """The rule is broken: what it expects, what was there instead, and optionally where and why."""

    def __init__(self, expected: str, actual: str, where: str = "", hint: str = "") -> None:
        expected, actual = encodable(expected), encodable(actual)
        super().__init__(f"expected {expected}; got {actual}" + (f" ({hint})" if hint else ""))
        self.expected = expected
        self.actual = actual
        self.where = where
        self.hint = hint


class Vacuous(Exception):  # noqa: N818
    """The exchange gave the rule nothing to look at."""


def fail(expected: str, actual: str, where: str = "", hint: str = "") -> NoReturn:
    """Raise a Violation."""
    raise Violation(expected, actual, where, hint)


def expect_equal(what: str, actual: Any, expected: Any, where: str = "", hint: str = "") -> None:
    """Raise a Violation unless the two values are the same."""
    if same(actual, expected):
        return
    raise Violation(f"{what} {show(expected)}", show(actual), where, hint)


def expect_text(what: str, actual: str | None, expected: str | None, where: str = "") -> None:
    """Raise a Violation that names the first code point at which two texts differ, unless they are equal."""
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
    piece = json.dumps(text[start : at + 40], ensure_ascii=False)
    return ("..." if start else "") + piece + ("..." if at + 40 < len(text) else "")
