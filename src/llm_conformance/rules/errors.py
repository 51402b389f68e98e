"""Read the errors of adapters: exceptions, and `response.error` events. Nothing that an adapter gives is trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llm_conformance.compare import shown
from llm_conformance.contract import ERROR_TYPES, error_for_status
from llm_conformance.rules.outcome import Raised
from llm_conformance.rules.retry_after import retry_after

_LONGEST_CHAIN = 20
_STATUS_ATTRIBUTES = ("status_code", "status", "http_status", "code")


def read_exception(error: BaseException, table: Mapping[str, str]) -> Raised:
    """Describe an exception; `table` maps the adapter's own class names to the contract's."""
    chain = list(_chain(error))
    origin = getattr(error, "original_error", None) or error.__cause__ or error.__context__
    provider = getattr(error, "provider", None)
    return Raised(
        type=type(error).__name__,
        contract_type=_contract_type(error, table),
        text=_text_or_reason(str, error),
        provider=provider if isinstance(provider, str) else None,
        has_origin=origin is not None or type(error).__name__ not in ERROR_TYPES or type(error) is TimeoutError,
        dump="\n".join(_text_or_reason(_dump, link) for link in chain),
        headers="\n".join(_text_or_reason(_headers, link) for link in chain),
        retry_after=next(filter(None, map(retry_after, chain)), None),
        exception=error,
    )


def read_error_event(event: Mapping[str, Any], table: Mapping[str, str]) -> Raised:
    """Describe the error of a `response.error` event; `table` as in `read_exception`."""
    value = event.get("error")
    error = value if isinstance(value, Mapping) else {}
    name = str(error.get("error_type"))
    return Raised(
        type=name,
        contract_type=table.get(name) or (name if name in ERROR_TYPES else _by_status(error.get("extra_context"))),
        text=str(error.get("message", "")),
        provider=error.get("provider") if isinstance(error.get("provider"), str) else None,
        has_origin=True,
        dump=shown(value),
        headers=shown(value),
        retry_after=retry_after(error),
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all causes and contexts behind it, each once."""
    waiting: list[Any] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < _LONGEST_CHAIN:
        link = waiting.pop()
        if isinstance(link, BaseException) and id(link) not in seen:
            seen.add(id(link))
            yield link
            waiting += [link.__context__, link.__cause__, getattr(link, "original_error", None)]


def _text_or_reason(text_of: Callable[[BaseException], str], error: BaseException) -> str:
    """Return `text_of(error)`, or why it fails: the error may be of a class that cannot be printed."""
    try:
        return text_of(error)
    except Exception as failure:
        return f"(its text cannot be had: {type(failure).__name__})"


def _dump(error: BaseException) -> str:
    """Return everything that a log or a traceback would show of an exception."""
    to_dict = getattr(error, "to_dict", None)
    notes = getattr(error, "__notes__", ())
    as_dict = repr(to_dict()) if callable(to_dict) else ""
    return "\n".join((str(error), repr(error), repr(error.args), as_dict, repr(notes)))


def _headers(error: BaseException) -> str:
    """Return what an exception keeps of the response's headers, under whatever name."""
    response = getattr(error, "response", None)
    headers = [dict(getattr(holder, "headers", None) or {}) for holder in (error, response)]
    return f"{vars(error)!r} {headers!r}"


def _contract_type(error: BaseException, table: Mapping[str, str]) -> str | None:
    """Return the contract's class for an exception: by the adapter's table, its class names, or a status attribute."""
    names = [cls.__name__ for cls in type(error).__mro__]
    for name in names:
        if name in table:
            return table[name]
    if isinstance(error, TimeoutError):
        return "TimeoutError"
    for name in names:
        if name in ERROR_TYPES:
            return name
    return _by_status({name: getattr(error, name, None) for name in _STATUS_ATTRIBUTES})


def _by_status(attributes: Any) -> str | None:
    for name in _STATUS_ATTRIBUTES if isinstance(attributes, Mapping) else ():
        status = attributes.get(name)
        if isinstance(status, int) and 400 <= status <= 599:
            return error_for_status(status).__name__
    return None
