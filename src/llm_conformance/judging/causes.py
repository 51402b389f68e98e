"""Causes: the text that the failures of a finding share, and what these failures differ in.

A map that lacks three finish reasons is one fault, and so is a usage whose details are never read, or a library whose
exceptions are not mapped. The failures of such a fault share a cause, and name different kinds: finish reasons, token
counts, or classes of errors. Only a value that is missing can be shared. Two wrong values may have two causes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_conformance.calling.without_values import without_values
from llm_conformance.rules.exchange import IS_UNMAPPED, UNMAPPED
from llm_conformance.wording import listed

_CLASS = re.compile(r"(?P<package>\w+)\.(?P<name>\w+)")
"""The class that the cause of an exception begins with, if it is not one of Python's own."""
_COUNTS_EXPECTED = r"expected (?P<kinds>\w+_tokens( N, \w+_tokens)*) N; got "
_LOST_COUNT = "expected a token count ({kinds}); got null"
_LOST = tuple(
    (re.compile(pattern), naming)
    for pattern, naming in (
        (r"expected finish_reason (?P<kinds>.+); got null", "expected a finish_reason ({kinds}); got null"),
        (_COUNTS_EXPECTED + r"\w+_tokens null(, \w+_tokens null)*", _LOST_COUNT),
        (
            r"expected (?P<kinds>\w+Error), (?P<rest>raised or as response\.error; got .+)",
            r"expected an error ({kinds}), \g<rest>",
        ),
    )
)
"""(pattern of a failure's own cause, `Cause.naming`). Known deviations still tell the own causes apart."""
_SEPARATOR = re.compile(r"(?: N)?, ")
"""What separates the kinds in such a cause."""
_WRONG_COUNTS = re.compile(_COUNTS_EXPECTED + r"\w+_tokens [^\s,]+(, \w+_tokens [^\s,]+)*")
"""The cause of a failure that has wrong token counts."""
_COUNTS = re.compile(
    r"expected (?P<expected>\w+_tokens \S+(?:, \w+_tokens \S+)*); "
    r"got (?P<got>\w+_tokens [^\s,]+(?:, \w+_tokens [^\s,]+)*)(?P<hint> \(.*\))?",
    re.DOTALL,
)
"""The message of a failure that names token counts."""
WHOLE = "whole_message"
"""Where `each_fault` puts the message that names all counts."""


@dataclass(frozen=True)
class Cause:
    """What a failure shares with others.

    Attributes:
        text: The text that is the same for all failures of a finding.
        kinds: The finish reasons, token counts or classes of errors that this failure is about; empty if its text says
            all.
        naming: The text of a message that names all kinds, with the place `{kinds}`; None if the text says all.
    """

    text: str
    kinds: tuple[str, ...] = ()
    naming: str | None = None

    @property
    def is_exclusive(self) -> bool:
        """Whether a recorded conversation has one of the kinds only: one finish reason, one error or one exception."""
        return self.naming not in (None, _LOST_COUNT)


def cause_of(failure: Mapping[str, Any]) -> Cause:
    """Return the cause of a failure, which has a `message`, and may have a `cause` and a `traceback`."""
    own: str = failure.get("cause") or failure["message"] or ""
    if failure.get("traceback"):
        return _of_an_exception(own, failure["message"] or "")
    for pattern, naming_of in _LOST:
        if found := pattern.fullmatch(own):
            naming = found.expand(naming_of)
            return Cause(naming.replace(" ({kinds})", ""), _kinds_in(found["kinds"]), naming)
    return Cause(own)


def _kinds_in(text: str) -> tuple[str, ...]:
    """Return the kinds that a cause lists. Where one of two finish reasons would be right, the two are one kind."""
    return tuple(each.replace(" or ", "/") for each in _SEPARATOR.split(text))


def _of_an_exception(own: str, message: str) -> Cause:
    """Return the cause of an exception: that its package is not mapped, or its class and place.

    Exceptions of Python itself are never taken together: a KeyError and a ValueError are seldom one fault.
    """
    found = _CLASS.match(own) if is_unmapped(message) else None
    if found is None:
        return Cause(own)
    naming = f"expected errors of the contract; got {{kinds}} of {found['package']} ({UNMAPPED})"
    return Cause(f"errors of {found['package']} that the adapter does not map", (found["name"],), naming)


def is_unmapped(message: str) -> bool:
    """Return True if a message says that the adapter does not map an exception."""
    return IS_UNMAPPED in message


def message_of(first: Mapping[str, Any], causes: Iterable[Cause]) -> str:
    """Return the message of the first failure, or one that names all kinds if the failures differ in them."""
    causes = list(causes)
    naming = cause_of(first).naming
    if naming is None or len({each.kinds for each in causes}) < 2:
        return first["message"] or ""
    return naming.replace("{kinds}", listed(kinds_of(causes)))


def is_named(cause: Cause, message: str) -> bool:
    """Return True if a text is the message of a finding with this cause, and all kinds of the cause are in it."""
    if cause.naming is None:
        return False
    start, end = cause.naming.split("{kinds}")
    if not (message.startswith(start) and message.endswith(end)):
        return False
    named = re.split(", | or ", message[len(start) : len(message) - len(end)])
    return set(cause.kinds) <= set(named)


def to_compare(text: str, kinds: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the text and the kinds by which a finding is compared with those of another run.

    Findings with wrong counts are compared by what they have in common, too: if one of two wrong counts is mended, the
    other one is not new.
    """
    found = None if kinds else _WRONG_COUNTS.fullmatch(text)
    return (text, kinds) if found is None else ("wrong token counts", _kinds_in(found["kinds"]))


def kinds_of(causes: Iterable[Cause]) -> tuple[str, ...]:
    """Return all kinds that causes name, sorted."""
    return tuple(sorted({kind for each in causes for kind in each.kinds}))


def each_fault(failure: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a failure; if it names both lost and wrong token counts, yield it once for the lost and once for the wrong.

    Two faults cause it then: one that occurs wherever there is such a count, and one that makes a count wrong.
    """
    found = None if failure.get("traceback") else _COUNTS.fullmatch(failure["message"] or "")
    counts = list(zip(found["expected"].split(", "), found["got"].split(", "), strict=False)) if found else []
    lost = [(expected, got) for expected, got in counts if got.endswith(" null")]
    wrong = [(expected, got) for expected, got in counts if not got.endswith(" null")]
    if found and lost and wrong:
        yield {**failure, **_only(lost, found["hint"] or ""), WHOLE: failure["message"]}
        yield {**failure, **_only(wrong, found["hint"] or ""), WHOLE: failure["message"]}
    else:
        yield failure


def _only(counts: Sequence[tuple[str, str]], hint: str) -> Mapping[str, str]:
    """Return the message and the cause of a failure that names only these counts."""
    expected, got = (", ".join(texts) for texts in zip(*counts, strict=True))
    said = f"expected {expected}; got {got}"
    return {"message": said + hint, "cause": without_values(said)}
