"""Errors that adapters end with, read without trust."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llm_conformance.compare import shown
from llm_conformance.contract import ERROR_TYPES, error_for_status
from llm_conformance.rules.outcome import Raised

_LONGEST_CHAIN = 20
_STATUSES = ("status_code", "status", "http_status", "code")


def raised(error: BaseException, table: Mapping[str, str]) -> Raised:
    """Return what there is to an exception; `table` has the contract's class by the names of the adapter's own."""
    own = _contract_type(error, table)
    chain = list(_chain(error))
    origin = getattr(error, "original_error", None) or error.__cause__ or error.__context__
    provider = getattr(error, "provider", None)
    return Raised(
        type=type(error).__name__,
        contract_type=own,
        text=_safely(lambda: str(error)),
        provider=provider if isinstance(provider, str) else None,
        has_origin=origin is not None or type(error).__name__ not in ERROR_TYPES or type(error) is TimeoutError,
        dump="\n".join(_safely(lambda each=each: _said(each)) for each in chain),  # type: ignore[misc]
        headers="\n".join(_safely(lambda each=each: _headers(each)) for each in chain),  # type: ignore[misc]
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that are behind it, each once."""
    waiting: list[Any] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < _LONGEST_CHAIN:
        each = waiting.pop()
        if isinstance(each, BaseException) and id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [each.__context__, each.__cause__, getattr(each, "original_error", None)]


def _safely(text: Callable[[], str]) -> str:
    try:
        return text()
    except Exception as inner:
        return f"(its text cannot be had: {type(inner).__name__})"


def _said(error: BaseException) -> str:
    to_dict = getattr(error, "to_dict", None)
    notes = getattr(error, "__notes__", ())  # they are part of every traceback
    said = (str(error), repr(error), repr(error.args), repr(to_dict()) if callable(to_dict) else "", repr(notes))
    return "\n".join(said)


def _headers(error: BaseException) -> str:
    """Return what an error keeps of the answer's headers, under whatever name."""
    response = getattr(error, "response", None)
    kept = [dict(getattr(each, "headers", None) or {}) for each in (error, response)]
    return f"{vars(error)!r} {kept!r}"


def _contract_type(error: BaseException, table: Mapping[str, str]) -> str | None:
    """Return the contract's class of an exception: by the adapter's table, by class name, by a status attribute."""
    names = [kind.__name__ for kind in type(error).__mro__]
    for name in names:
        if name in table:
            return table[name]
    if isinstance(error, TimeoutError):
        return "TimeoutError"
    for name in names:
        if name in ERROR_TYPES:
            return name
    return _by_status({name: getattr(error, name, None) for name in _STATUSES})


def _by_status(facts: Any) -> str | None:
    for name in _STATUSES if isinstance(facts, Mapping) else ():
        status = facts.get(name)
        if isinstance(status, int) and 400 <= status <= 599:
            return error_for_status(status).__name__
    return None


def raised_event(event: Mapping[str, Any], table: Mapping[str, str]) -> Raised:
    """Return the error that a `response.error` event carries; `table` as for one that is raised."""
    error = event.get("error")
    said = error if isinstance(error, Mapping) else {}
    name = str(said.get("error_type"))
    return Raised(
        type=name,
        contract_type=table.get(name) or (name if name in ERROR_TYPES else _by_status(said.get("extra_context"))),
        text=str(said.get("message", "")),
        provider=said.get("provider") if isinstance(said.get("provider"), str) else None,
        has_origin=True,
        dump=shown(error),
        headers=shown(error),
    )
