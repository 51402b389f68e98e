"""Read an adapter's exception. It is not trusted, because reading an attribute may run code that raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from llm_conformance.calling.exceptions.retry_after import retry_after
from llm_conformance.calling.program import ReportedError
from llm_conformance.contract import ERROR_TYPES

STATUS_FIELDS = ("status_code", "status", "http_status", "code")
"""Attributes and fields of an error that may have the HTTP status."""
_LONGEST_CHAIN = 20
_LONGEST_TEXT = 1_000_000

T = TypeVar("T")


@dataclass(frozen=True)
class ErrorFacts:
    """What an exception says about itself.

    Attributes:
        names: The names of its class and of the base classes.
        text: Its message.
        status: The HTTP status that it states; None if it states none.
        status_of_response: The status of the HTTP response that it keeps; None if it keeps none.
        provider: The provider that it names.
        has_origin: Whether it keeps the exception behind it, or is itself that exception.
        dump: All texts of it and of the exceptions behind it, to search for the API key.
        headers: The headers of the response that it and the exceptions behind it keep.
        retry_after: The `Retry-After` that it or an exception behind it keeps; None if there is none.
    """

    names: tuple[str, ...]
    text: str
    status: int | None = None
    status_of_response: int | None = None
    provider: str | None = None
    has_origin: bool = False
    dump: str = ""
    headers: str = ""
    retry_after: str | None = None


def facts_of(error: BaseException) -> ErrorFacts:
    """Return what an exception says about itself."""
    chain = list(chain_of(error))  # `type` is used below, because `isinstance` reads the object's `__class__`
    names = tuple(type.__dict__["__name__"].__get__(each) for each in type.__dict__["__mro__"].__get__(type(error)))
    provider = _attribute(error, "provider")
    origin = _or_none(lambda: _attribute(error, "original_error") or error.__cause__ or error.__context__)
    # A program may leave out `original_error`. An exception that is not named after a class of the contract is the
    # original.
    is_origin = issubclass(type(error), ReportedError) or names[0] not in ERROR_TYPES or type(error) is TimeoutError
    return ErrorFacts(
        names=names,
        text=text_or_reason(str, error),
        status=_status(error),
        status_of_response=_status(_attribute(error, "response")),
        provider=str.__str__(provider) if issubclass(type(provider), str) else None,
        has_origin=origin is not None or is_origin,
        dump="\n".join(text_or_reason(_dump, link) for link in chain),
        headers="\n".join(text_or_reason(_headers, link) for link in chain),
        retry_after=next(filter(None, map(_retry_after, chain)), None),
    )


def status_of(fields: Mapping[str, Any]) -> int | None:
    """Return the first of `STATUS_FIELDS` that is an error status (400 to 599); None if there is none."""
    for name in STATUS_FIELDS:
        status = fields.get(name)
        if isinstance(status, int) and 400 <= status <= 599:
            return int(status)
    return None


def text_or_reason(text_of: Callable[[BaseException], str], error: BaseException) -> str:
    """Return `text_of(error)`, or the reason why that fails: some errors cannot be printed."""
    try:
        return str.__str__(text_of(error))[:_LONGEST_TEXT]
    except BaseException as failure:
        return f"(its text cannot be had: {type(failure).__name__})"


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all causes and contexts behind it, each once."""
    waiting: list[Any] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < _LONGEST_CHAIN:
        link = waiting.pop()
        if issubclass(type(link), BaseException) and id(link) not in seen:
            seen.add(id(link))
            yield link
            waiting += [_attribute(link, name) for name in ("__context__", "__cause__", "original_error")]


def _dump(error: BaseException) -> str:
    """Return everything that a log or a traceback would show of an exception."""
    to_dict = getattr(error, "to_dict", None)
    notes = getattr(error, "__notes__", ())
    as_dict = repr(to_dict()) if callable(to_dict) else ""
    return "\n".join((str(error), repr(error), repr(error.args), as_dict, repr(notes)))


def _headers(error: BaseException) -> str:
    """Return the headers of the response that an exception keeps in any of its attributes."""
    response = getattr(error, "response", None)
    headers = [dict(getattr(holder, "headers", None) or {}) for holder in (error, response)]
    return f"{vars(error)!r} {headers!r}"


def _retry_after(error: BaseException) -> str | None:
    return _or_none(lambda: retry_after(error))


def _status(holder: Any) -> int | None:
    return _or_none(lambda: status_of({name: _attribute(holder, name) for name in STATUS_FIELDS}))


def _attribute(holder: Any, name: str) -> Any:
    """Return an attribute; None if it does not exist or raises."""
    return _or_none(lambda: getattr(holder, name, None))


def _or_none(action: Callable[[], T]) -> T | None:
    """Return the result of an action that may run the adapter's code; None if it raises anything."""
    try:
        return action()
    except BaseException:
        return None
