"""`Retry-After` is read as a field, from wherever libraries keep it, and never as a part of some text."""

from __future__ import annotations

from decimal import Decimal
from email.message import Message
from typing import Any

import httpx
import pytest

from llm_conformance.calling.exceptions.facts import facts_of
from llm_conformance.rules.errors import is_same_wait, read_error_event


class LibraryError(Exception):
    """An exception with the attributes of some library."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__("too many requests")
        vars(self).update(attributes)


class UnreadableError(Exception):
    @property
    def response(self) -> object:
        raise RuntimeError("the response was not read")

    @property
    def headers(self) -> int:
        return 3


def message(**headers: str) -> Message:
    """Return headers as urllib and http.client keep them."""
    kept = Message()
    for name, value in headers.items():
        kept[name.replace("_", "-")] = value
    return kept


class Holder:
    def __init__(self, headers: Any) -> None:
        self.headers = headers


@pytest.mark.parametrize(
    "attributes",
    [
        {"retry_after": "41"},
        {"retry_after": 41},
        {"retry_after": 41.0},
        {"retry_after": Decimal(41)},
        {"extra_context": {"retry_after": 41}},
        {"extra_context": {"headers": {"Retry-After": "41"}}},
        {"headers": {"Retry-After": "41"}},
        {"headers": [("x", "1"), ("RETRY-AFTER", "41")]},
        {"headers": [(b"retry-after", b"41")]},
        {"headers": message(Retry_After="41")},
        {"headers": {"retry-after": ["41"]}},
        {"response": httpx.Response(429, headers={"Retry-After": "41"})},
        {"response": Holder({"retry-after": " 41 "})},
        {"response": {"headers": {"retry-after": "41"}}},
        {"response": {"ResponseMetadata": {"HTTPHeaders": {"retry-after": "41"}}}},
        {"raw_response": Holder({"retry-after": "41"})},
    ],
)
def test_it_is_read_from_where_libraries_keep_it(attributes: dict[str, Any]) -> None:
    found = facts_of(LibraryError(**attributes))
    assert is_same_wait(found.retry_after, "41")


def test_it_is_read_from_the_exceptions_behind_an_error() -> None:
    error = ValueError("too many")
    error.__cause__ = LibraryError(response=httpx.Response(429, headers={"Retry-After": "41"}))
    assert facts_of(error).retry_after == "41"


@pytest.mark.parametrize(
    "error",
    [
        LibraryError(request_id="req-41", url="/41"),
        LibraryError(args=("Retry-After: 41",)),
        LibraryError(retry_after=None, headers=None, response=None),
        LibraryError(retry_after=True),
        LibraryError(retry_after={"seconds": 41}),
        LibraryError(headers={"x-retry-after-41": "41"}),
        LibraryError(headers="retry-after: 41"),
        UnreadableError("retry-after 41"),
    ],
)
def test_it_is_never_read_from_text(error: Exception) -> None:
    assert facts_of(error).retry_after is None


@pytest.mark.parametrize(
    "error",
    [
        {"retry_after": 41},
        {"extra_context": {"retry_after": "41"}},
        {"extra_context": {"headers": {"retry-after": "41"}}},
        {"headers": {"Retry-After": "41"}},
    ],
)
def test_it_is_read_from_error_events(error: dict[str, Any]) -> None:
    raised = read_error_event({"event_type": "response.error", "error": error}, {})
    assert is_same_wait(raised.retry_after, "41")


@pytest.mark.parametrize(
    ("actual", "expected", "is_same"),
    [
        ("41", "41", True),
        ("41.0", "41", True),
        ("410", "41", False),
        ("4", "41", False),
        (None, "41", False),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", True),
        ("41", "Wed, 21 Oct 2026 07:28:00 GMT", False),
    ],
)
def test_it_is_compared_by_value(actual: str | None, expected: str, is_same: bool) -> None:
    assert is_same_wait(actual, expected) == is_same
