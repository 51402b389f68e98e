"""Causes: the text that the failures of a finding share, and what these failures differ in.

A map that lacks three finish reasons is one fault, and so is a usage whose details are never read, or a library whose
exceptions are not mapped. The failures of such a fault share a cause, and name different kinds: finish reasons, token
counts, or classes of errors. Only a value that is missing can be shared. Two wrong values may have two causes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.rules.exchange import IS_UNMAPPED, UNMAPPED
from llm_conformance.wording import listed

_CLASS = re.compile(r"(?P<package>\w+)\.(?P<name>\w+)")
"""The class that the cause of an exception begins with, if it is not one of Python's own."""
_MISSING = tuple(
    (re.compile(pattern), shared)
    for pattern, shared in (
        (r"expected finish_reason (?P<kinds>.+); got null", "expected a finish_reason; got null"),
        (r"expected (?P<kinds>\w+Error), (raised or as response\.error; got .+)", r"expected an error, \2"),
        (
            r"expected (?P<kinds>\w+_tokens( N, \w+_tokens)*) N; got \w+_tokens null(, \w+_tokens null)*",
            "expected a token count; got null",
        ),
    )
)
"""(pattern of a failure's own cause, the cause that it shares). Known deviations still tell the own causes apart."""
_SEPARATOR = re.compile(r"(?: N)?, | or ")
"""What separates the kinds in such a cause. Where one of two finish reasons would be right, both are named."""


@dataclass(frozen=True)
class Cause:
    """What a failure shares with others.

    Attributes:
        text: The text that is the same for all failures of a finding.
        kinds: The finish reasons, token counts or classes of errors that this failure is about; empty if its text says
            all.
        package: The package whose exceptions the adapter does not map; None for any other failure.
    """

    text: str
    kinds: tuple[str, ...] = ()
    package: str | None = None


def cause_of(result: Mapping[str, Any]) -> Cause:
    """Return the cause of a failing result."""
    own: str = result.get("cause") or result["message"] or ""
    if result.get("traceback"):
        return _of_an_exception(own, result["message"] or "")
    for pattern, shared in _MISSING:
        if found := pattern.fullmatch(own):
            return Cause(found.expand(shared), tuple(_SEPARATOR.split(found["kinds"])))
    return Cause(own)


def _of_an_exception(own: str, message: str) -> Cause:
    """Return the cause of an exception: that its package is not mapped, or its class and place.

    Exceptions of Python itself are never taken together: a KeyError and a ValueError are seldom one fault.
    """
    found = _CLASS.match(own) if is_unmapped(message) else None
    if found is None:
        return Cause(own)
    package = found["package"]
    return Cause(f"errors of {package} that the adapter does not map", (found["name"],), package)


def is_unmapped(message: str) -> bool:
    """Return True if a message says that the adapter does not map an exception."""
    return IS_UNMAPPED in message


def message_of(first: Mapping[str, Any], causes: Iterable[Cause]) -> str:
    """Return the message of the first failure, or one that names all kinds if the failures differ in them."""
    causes = list(causes)
    if len({each.kinds for each in causes}) < 2:
        return first["message"] or ""
    cause, kinds = cause_of(first), kinds_of(causes)
    if cause.package is None:
        return f"{cause.text} instead of {listed(kinds, 'and')}"
    return f"expected errors of the contract; got {listed(kinds, 'and')} of {cause.package} ({UNMAPPED})"


def kinds_of(causes: Iterable[Cause]) -> tuple[str, ...]:
    """Return all kinds that causes name, sorted."""
    return tuple(sorted({kind for each in causes for kind in each.kinds}))
