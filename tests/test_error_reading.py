"""How errors of adapters are read."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from conformance import test_errors
from llm_conformance.calling.exceptions.facts import facts_of
from llm_conformance.calling.program import ReportedError
from llm_conformance.contract import ServiceUnavailableError
from llm_conformance.rules.errors import raised, read_error_event
from llm_conformance.rules.violation import Violation


@pytest.mark.parametrize(
    ("named", "is_right"), [(None, True), ("openai", True), ("openai:responses", True), ("open", False)]
)
def test_an_error_may_name_an_api_of_its_provider(named: str | None, is_right: bool) -> None:
    raised = SimpleNamespace(provider=named)
    exchange: Any = SimpleNamespace(call=SimpleNamespace(provider="openai"), outcome=SimpleNamespace(raised=raised))
    with nullcontext() if is_right else pytest.raises(Violation, match="an error of the provider 'openai'"):
        test_errors.test_error_names_no_other_provider(exchange)


TABLE = {"MyDown": "ServiceUnavailableError"}


@pytest.mark.parametrize(
    ("error", "contract_type"),
    [
        ({"error_type": "RateLimitError"}, "RateLimitError"),
        ({"error_type": "MyDown"}, "ServiceUnavailableError"),
        ({"error_type": "Other", "extra_context": {"status_code": 429}}, "RateLimitError"),
        ({"error_type": "Other", "extra_context": "status_code"}, None),
        ({"error_type": "Other"}, None),
        ("MyDown", None),
    ],
)
def test_an_error_event_has_the_class_of_a_raised_error(error: object, contract_type: str | None) -> None:
    assert read_error_event({"event_type": "response.error", "error": error}, TABLE).contract_type == contract_type


def test_all_exceptions_behind_an_error_are_read() -> None:
    root = OSError("at the root")
    root.add_note("a note")
    middle, top = ValueError("in the middle"), RuntimeError("at the top")
    root.__context__, middle.__cause__, top.__cause__ = top, root, middle  # in a circle
    dump = facts_of(top).dump
    for text in ("at the top", "in the middle", "at the root", "a note"):
        assert text in dump


class APIStatusError(Exception):
    """An exception of a library that has one class for all statuses."""

    def __init__(self, status_code: int | None = None, **attributes: object) -> None:
        super().__init__("it failed")
        if status_code is not None:
            self.status_code = status_code
        vars(self).update(attributes)


class UnreadableStatusError(APIStatusError):
    @property
    def status(self) -> int:
        raise RuntimeError("the response was not read")


@pytest.mark.parametrize(
    ("error", "table", "contract_type"),
    [
        # A class that is mapped does not hide the status.
        (APIStatusError(429), {"APIStatusError": "ServiceUnavailableError"}, "RateLimitError"),
        (APIStatusError(429), {"Exception": "LLMError"}, "RateLimitError"),
        (APIStatusError(429), {}, "RateLimitError"),
        # An entry for class and status counts before both.
        (APIStatusError(400), {"APIStatusError 400": "RateLimitError"}, "RateLimitError"),
        (APIStatusError(400), {"Exception 400": "RateLimitError", "APIStatusError": "LLMError"}, "RateLimitError"),
        (APIStatusError(404), {"APIStatusError 400": "RateLimitError"}, "ResourceNotFoundError"),
        # Without a status, the class counts.
        (APIStatusError(), {"APIStatusError": "ServiceUnavailableError"}, "ServiceUnavailableError"),
        (APIStatusError(200), {"APIStatusError": "ServiceUnavailableError"}, "ServiceUnavailableError"),
        (APIStatusError(code="429"), {}, None),
        (UnreadableStatusError(503), {}, "ServiceUnavailableError"),
        # The status of the response behind the error counts only for an entry with class and status.
        (APIStatusError(response=APIStatusError(429)), {}, None),
        (APIStatusError(response=APIStatusError(429)), {"APIStatusError 429": "RateLimitError"}, "RateLimitError"),
    ],
)
def test_a_status_counts_before_the_class(error: Exception, table: dict[str, str], contract_type: str | None) -> None:
    assert raised(facts_of(error), table).contract_type == contract_type


@pytest.mark.parametrize(
    ("table", "contract_type"),
    [
        ({"APIStatusError": "ValidationError"}, "ValidationError"),
        ({"APIStatusError 500": "TimeoutError", "APIStatusError": "ValidationError"}, "TimeoutError"),
        ({}, "ServiceUnavailableError"),
    ],
)
def test_a_status_that_the_library_made_up_counts_last(table: dict[str, str], contract_type: str) -> None:
    found = raised(facts_of(APIStatusError(500)), table, status_is_the_providers=False)
    assert found.contract_type == contract_type


def test_a_status_in_an_error_event_counts_before_its_type() -> None:
    error = {"error_type": "MyDown", "extra_context": {"status_code": 429}}
    assert read_error_event({"error": error}, TABLE).contract_type == "RateLimitError"
    assert read_error_event({"error": error}, {"MyDown 429": "LLMError"}).contract_type == "LLMError"
    assert read_error_event({"error": {"error_type": "Own", "status_code": 404}}, {}).contract_type == (
        "ResourceNotFoundError"
    )


def test_an_error_of_a_program_needs_no_original_error() -> None:
    kind = type("ServiceUnavailableError", (ReportedError,), {})
    assert facts_of(kind({"message": "the connection was lost"})).has_origin
    assert not facts_of(ServiceUnavailableError("the connection was lost")).has_origin
