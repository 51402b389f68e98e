"""Find `Retry-After` in an error: in a field of its own, or among the headers that the error keeps."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

_FIELD = "retry_after"
_HEADER = "retry-after"
_CONTEXT = "extra_context"
_HEADERS = ("headers", "http_headers", "response_headers", "responseHeaders", "litellm_response_headers", "HTTPHeaders")
_RESPONSES = ("response", "raw_response", "http_response", "ResponseMetadata")
_MOST_HEADERS = 1000


def retry_after(error: Any) -> str | None:
    """Return the `Retry-After` of an exception, or of a mapping that describes an error; None if it keeps none.

    The places, in this order: `retry_after`; `retry_after` in `extra_context`; the headers of the error, of its
    `extra_context` and of its response. Headers may be a mapping, an object with `items`, or a list of pairs, with
    names in upper or lower case. Texts are not searched. The caller has to look at the exceptions behind an error.
    """
    context = _at(error, _CONTEXT)
    for value in itertools.chain((_at(error, _FIELD), _at(context, _FIELD)), _from_headers(error, context)):
        text = _as_text(value)
        if text:
            return text
    return None


def _from_headers(*holders: Any) -> Iterator[Any]:
    responses = _all_at(holders, _RESPONSES)
    inner = _all_at(responses, _RESPONSES)
    for headers in _all_at((*holders, *responses, *inner), _HEADERS):
        yield from (value for key, value in _pairs(headers) if _name(key) == _HEADER)


def _all_at(holders: Iterable[Any], names: Iterable[str]) -> list[Any]:
    """Return the values that the holders have under the names. Missing values are left out."""
    found = (_at(holder, name) for holder in holders if holder is not None for name in names)
    return [each for each in found if each is not None]


def _at(holder: Any, name: str) -> Any:
    """Return an item of a mapping or an attribute of an object; None if there is none, or if reading it fails."""
    try:
        return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
    except Exception:  # an attribute of the adapter's exception may be a property that raises
        return None


def _pairs(headers: Any) -> list[tuple[Any, Any]]:
    """Return headers as (name, value); [] for anything that is not headers."""
    try:
        items: Iterable[Any] = headers.items() if callable(getattr(headers, "items", None)) else headers
        if not isinstance(items, Iterable) or isinstance(items, str | bytes):
            return []
        pairs = itertools.islice(items, _MOST_HEADERS)
        return [tuple(pair) for pair in pairs if isinstance(pair, tuple | list) and len(pair) == 2]
    except Exception:
        return []


def _name(key: Any) -> str:
    text = key.decode("latin-1") if isinstance(key, bytes) else str(key)
    return text.strip().lower().replace("_", "-")


def _as_text(value: Any) -> str | None:
    """Return a header's value or a number of seconds as text; None for anything else."""
    if isinstance(value, list | tuple):
        value = value[0] if value else None
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bytes):
        return value.decode("latin-1").strip()
    is_number = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    return str(value).strip() if is_number or isinstance(value, str) else None
