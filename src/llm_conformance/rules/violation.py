"""How a rule reports that it is broken, or that it has nothing to judge."""

from __future__ import annotations

from typing import Any, NoReturn

from llm_conformance.calling.without_values import without_values
from llm_conformance.compare import encodable, first_difference, in_one_line, same, show
from llm_conformance.wording import names_of_unseen

_BEFORE, _AFTER = 20, 40
"""How many code points a message quotes of two texts, before and after the place where they differ."""


class Violation(AssertionError):  # noqa: N818 - `raise Violation` reads well in a rule
    """A broken rule.

    Args:
        expected: What the rule expected. In the message, it follows the word "expected".
        actual: What the rule found. In the message, it follows `lead`.
        where: The part of the response, stream or error that is wrong; "" for the whole.
        hint: A text that may help to find the cause; "" if there is none.
        cause: A text that failures with the same cause share. The default is the message without its values.
        traceback: The traceback of an exception, shortened; None if there was none.
        lead: The word before `actual` in the message; "" if `actual` is a whole sentence.
    """

    def __init__(
        self,
        expected: str,
        actual: str,
        where: str = "",
        hint: str = "",
        cause: str | None = None,
        traceback: str | None = None,
        lead: str = "got",
    ) -> None:
        expected, actual = encodable(expected), encodable(actual)
        found = f"{lead} {actual}" if lead else actual
        super().__init__(f"expected {expected}; {found}" + (f" ({hint})" if hint else ""))
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
    texts = [each for each in (expected, actual) if isinstance(each, str)]
    raise Violation(f"{what} {show(expected)}", show(actual), where, _naming_unseen(hint, *texts))


def expect_text(what: str, actual: str | None, expected: str | None, where: str = "") -> None:
    """Raise a Violation unless two texts are equal. Its message shows where they first differ."""
    if actual == expected:
        return
    if actual is None or expected is None:
        raise Violation(f"{what} {show(expected)}", show(actual), where)
    at = first_difference(actual, expected)
    start = max(0, at - _BEFORE)
    pieces = (expected[at : at + _AFTER], actual[at : at + _AFTER], expected[start:at])
    raise Violation(
        f"{what} of {len(expected)} code points: {around(expected, at)}",
        f"{len(actual)} code points: {around(actual, at)}",
        where,
        _naming_unseen(f"they differ at code point {at}", *pieces),
    )


def around(text: str, at: int) -> str:
    """Return the part of a text that is around a place, as JSON."""
    start = max(0, at - _BEFORE)
    piece = in_one_line(text[start : at + _AFTER])
    return ("..." if start else "") + piece + ("..." if at + _AFTER < len(text) else "")


def _naming_unseen(hint: str, *texts: str) -> str:
    """Add the names of invisible characters in the quoted texts to `hint`, beginning with the first text."""
    names = names_of_unseen("".join(texts))
    return ", ".join(filter(None, (hint, names and f"with {names}")))
