"""How errors of adapters are read."""

from __future__ import annotations

import pytest

from llm_conformance.rules.errors import read_error_event, read_exception

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
    dump = read_exception(top, {}).dump
    for text in ("at the top", "in the middle", "at the root", "a note"):
        assert text in dump
