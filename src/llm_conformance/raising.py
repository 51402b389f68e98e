"""Errors that adapters end with, read without trust."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llm_conformance.contract import ERROR_TYPES, error_for_status
from llm_conformance.outcome import Raised


def raised(error: BaseException, table: Mapping[str, str]) -> Raised:
    """Return what there is to an exception; `table` has the contract's class by the names of the adapter's own."""
    own = _contract_type(error, table)
    origin = getattr(error, "original_error", None) or error.__cause__ or error.__context__
    chain = [error, *([origin] if isinstance(origin, BaseException) else [])]
    provider = getattr(error, "provider", None)
    return Raised(
        type=type(error).__name__,
        contract_type=own,
        text=_safely(lambda: str(error)),
        provider=provider if isinstance(provider, str) else None,
        has_origin=origin is not None or type(error).__name__ not in ERROR_TYPES,
        dump="\n".join(_safely(lambda each=each: _said(each)) for each in chain),  # type: ignore[misc]
        headers="\n".join(_safely(lambda each=each: _headers(each)) for each in chain),  # type: ignore[misc]
    )


def _safely(text: Callable[[], str]) -> str:
    try:
        return text()
    except Exception as inner:
        return f"(its text cannot be had: {type(inner).__name__})"


def _said(error: BaseException) -> str:
    to_dict = getattr(error, "to_dict", None)
    return "\n".join((str(error), repr(error), repr(error.args), repr(to_dict()) if callable(to_dict) else ""))


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
    for attribute in ("status_code", "status", "http_status"):
        status = getattr(error, attribute, None)
        if isinstance(status, int) and 400 <= status <= 599:
            return error_for_status(status).__name__
    return None


def raised_event(event: Mapping[str, Any]) -> Raised:
    """Return the error that a `response.error` event carries."""
    error = event.get("error")
    said = error if isinstance(error, Mapping) else {}
    name = str(said.get("error_type"))
    return Raised(
        type=name,
        contract_type=name if name in ERROR_TYPES else None,
        text=str(said.get("message", "")),
        provider=said.get("provider") if isinstance(said.get("provider"), str) else None,
        has_origin=True,
        dump=repr(error),
        headers=repr(error),
    )
