"""Read the errors of adapters: exceptions, and `response.error` events. Nothing that an adapter gives is trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.adapter.program import ReportedError
from llm_conformance.compare import shown
from llm_conformance.contract import ERROR_TYPES
from llm_conformance.rules.error_class import STATUS_FIELDS, contract_class, status_of
from llm_conformance.rules.outcome import Raised
from llm_conformance.rules.retry_after import retry_after
from llm_conformance.rules.tracebacks import text_or_reason

_LONGEST_CHAIN = 20


def read_exception(error: BaseException, table: Mapping[str, str], status_is_the_providers: bool = True) -> Raised:
    """Describe an exception. `table` is the adapter's `errors`; the last argument as in `contract_class`."""
    chain = list(_chain(error))
    name = type(error).__name__
    provider = _attribute(error, "provider")
    origin = _attribute(error, "original_error") or error.__cause__ or error.__context__
    # A program may leave out `original_error`, and an exception of another name is the original.
    is_origin = isinstance(error, ReportedError) or name not in ERROR_TYPES or type(error) is TimeoutError
    names = [cls.__name__ for cls in type(error).__mro__]
    return Raised(
        type=name,
        contract_type=contract_class(
            names, _status(error), table, status_is_the_providers, _status(_attribute(error, "response"))
        ),
        text=text_or_reason(str, error),
        provider=provider if isinstance(provider, str) else None,
        has_origin=origin is not None or is_origin,
        dump="\n".join(text_or_reason(_dump, link) for link in chain),
        headers="\n".join(text_or_reason(_headers, link) for link in chain),
        retry_after=next(filter(None, map(retry_after, chain)), None),
        exception=error,
    )


def read_error_event(
    event: Mapping[str, Any], table: Mapping[str, str], status_is_the_providers: bool = True
) -> Raised:
    """Describe the error of a `response.error` event; the other arguments as in `read_exception`."""
    value = event.get("error")
    error = value if isinstance(value, Mapping) else {}
    context = error.get("extra_context")
    status = status_of(error) or status_of(context if isinstance(context, Mapping) else {})
    name = str(error.get("error_type"))
    return Raised(
        type=name,
        contract_type=contract_class([name], status, table, status_is_the_providers),
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
            waiting += [link.__context__, link.__cause__, _attribute(link, "original_error")]


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


def _status(holder: Any) -> int | None:
    return status_of({name: _attribute(holder, name) for name in STATUS_FIELDS})


def _attribute(holder: Any, name: str) -> Any:
    """Return an attribute; None if there is none, or if it is a property that raises."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None
