"""How a rule speaks: an invariant, what it looks at, and the ways in which its judgement can end.

A rule is a function of one exchange. It returns when it has found nothing wrong, raises `Violation` with what was
expected and what was there, or `Vacuous` when the exchange gave it nothing to look at.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NoReturn

if TYPE_CHECKING:
    from llm_conformance.exchange import Exchange
    from llm_conformance.truths import Mode, Truth


class Status(StrEnum):
    """The seven statuses a cell can have; a cell has exactly one.

    Only `pass` is green. `vacuous`: the scenario gave this invariant nothing to look at. `unsupported`: a capability is
    not declared. `expected`: a known deviation that still fails. `stale`: a known deviation none of whose cells fails
    any more. `error`: the harness's own fault, never the adapter's.
    """

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    VACUOUS = "vacuous"
    UNSUPPORTED = "unsupported"
    EXPECTED = "expected"
    STALE = "stale"
    ERROR = "error"


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


Applies = Callable[["Truth", "Mode"], bool]
Check = Callable[["Exchange"], None]


@dataclass(frozen=True)
class Invariant:
    """One rule: its id, its requirement in one sentence, and whether it looks at anything in a given truth.

    One that holds `over` cuts judges a stream that is cut in many ways, instead of once as it was recorded. One that
    looks at what an adapter `sends` has nothing to see in methods that are given the answer.
    """

    id: str
    requirement: str
    capability: str | None
    applies: Applies
    check: Check
    over: Literal["", "cuts"] = ""
    sends: bool = False

    @property
    def family(self) -> str:
        """The part of the id before the number."""
        return self.id.partition("-")[0]


def answered(truth: Truth, _mode: Mode) -> bool:
    """There is an answer, not an error."""
    return truth.error is None


def always(_truth: Truth, _mode: Mode) -> bool:
    """Whatever the truth is."""
    return True


def invariant(
    id: str,
    *,
    capability: str | None = None,
    when: Applies = answered,
    over: Literal["", "cuts"] = "",
    sends: bool = False,
) -> Callable[[Check], Check]:
    """Mark a function as the rule `id`; its docstring's first paragraph is the requirement.

    `capability` is what an adapter has to declare to be held to it; `when` says which truths give it something to see,
    `over` whether each recording is to be varied for it, `sends` whether it is about the request.
    """

    def mark(check: Check) -> Check:
        requirement = inspect.cleandoc(check.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        setattr(check, _MARK, Invariant(id, requirement, capability, when, check, over, sends))
        return check

    return mark


_MARK = "conformance_invariant"


def invariant_of(function: Any) -> Invariant | None:
    """Return the invariant that a function was marked as, None for any other object."""
    return getattr(function, _MARK, None)


def fail(expected: str, actual: str, where: str = "", hint: str = "") -> NoReturn:
    """Raise a Violation."""
    raise Violation(expected, actual, where, hint)


def expect_equal(what: str, actual: Any, expected: Any, where: str = "", hint: str = "") -> None:
    """Raise a Violation unless the two values are the same."""
    if same(actual, expected):
        return
    raise Violation(f"{what} {show(expected)}", show(actual), where, hint)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, and no True in one is a 1 in the other (1.0 may be: JSON has one number)."""
    pairs = [(one, other)] if one == other else []
    for left, right in pairs:  # grows while it is walked: values may be nested deeper than calls can be
        if isinstance(left, bool) != isinstance(right, bool):
            return False
        if isinstance(left, Mapping) and left is not right:
            pairs += [(left[key], right[key]) for key in left]
        elif isinstance(left, list | tuple) and left is not right:
            pairs += zip(left, right, strict=True)
    return bool(pairs)


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


def first_difference(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return the first position at which two sequences differ; the length of the shorter one if it is a prefix."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


def as_json(text: str) -> object:
    """Return what a text is as JSON, or the text itself where it is none."""
    try:
        decoded: object = json.loads(text)
    except ValueError:
        return text
    return decoded


def show(value: Any) -> str:
    """Return a value as JSON, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=shown)
    except (TypeError, ValueError):  # a key that is no text, or a value that contains itself
        text = shown(value)
    return text if len(text) <= 200 else f"{text[:140]} ... {text[-40:]}"


def shown(value: Any) -> str:
    """Return an object of an adapter's as Python shows it, or that it cannot be shown."""
    try:
        return repr(value)
    except Exception as error:
        return f"(a {type(value).__name__}, whose repr raises {type(error).__name__})"


def encodable(text: str) -> str:
    """Return a text that can be written anywhere: half a surrogate pair, as a broken adapter may give, is escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _around(text: str, at: int) -> str:
    start = max(0, at - 20)
    piece = json.dumps(text[start : at + 40], ensure_ascii=False)
    return ("..." if start else "") + piece + ("..." if at + 40 < len(text) else "")
