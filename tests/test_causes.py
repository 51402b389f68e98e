"""Failures with the same cause have the same text for it, whatever values they have."""

from __future__ import annotations

import json

import pytest

from llm_conformance.calling.exceptions.tracebacks import class_and_place, traceback_of
from llm_conformance.calling.without_values import without_values
from llm_conformance.judging.deviations import is_part
from llm_conformance.judging.known.messages import stable_part
from llm_conformance.rules.violation import Violation


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            'the message of 23 code points: "Four."; got 4 code points: "Four"',
            'the message of N code points: "…"; got N code points: "…"',
        ),
        ('the message of 90 code points: ..."a \\"b\\" c"...; got null', 'the message of N code points: "…"; got null'),
        ('finish_reason "length"; got "stop"', 'finish_reason "length"; got "stop"'),
        ('segments [["text", "Four."], ["tool_call", null]]; got []', "segments …; got []"),
        ('the message "Four."; got ""', 'the message "…"; got ""'),
        ("raised KeyError: 'choices'", "raised KeyError: '…'"),
        ("returned object <mypkg.Answer object at 0x7f1c2a>", "returned object <mypkg.Answer object at N>"),
        ("the adapter's usage of gpt-4o at 1.5", "the adapter's usage of gpt-4o at N"),
    ],
)
def test_values_are_taken_out_of_a_message(message: str, expected: str) -> None:
    assert without_values(message) == expected


def test_a_violation_has_a_cause_without_values() -> None:
    assert Violation("id 12", "13").cause == Violation("id 4", "5").cause
    assert Violation("id 12", "13").cause != Violation("id 12", "null").cause
    assert Violation("id 12", "13", cause="ids are made up").cause == "ids are made up"


def _raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as raised:
        return raised


def test_the_cause_of_an_exception_is_its_class_and_place() -> None:
    error = _raised(LookupError("no choices"))
    line = _raised.__code__.co_firstlineno + 2
    assert class_and_place(error) == f"LookupError in tests/test_causes.py:{line} _raised"
    assert traceback_of(error).splitlines()[-1] == "LookupError: no choices"


def test_the_cause_names_the_package_of_a_class_that_is_not_pythons_own() -> None:
    assert class_and_place(ValidationError([])).startswith("pydantic_core.ValidationError: ")
    assert class_and_place(json.JSONDecodeError("no JSON", "x", 0)).startswith("JSONDecodeError: ")


def test_an_exception_without_frames_has_its_message_as_cause() -> None:
    assert class_and_place(LookupError("choice 7")) == "LookupError: choice N"


def test_a_traceback_hides_secrets_and_leaves_frames_out() -> None:
    def descend(levels: int) -> None:
        if not levels:
            raise LookupError("Authorization: Bearer sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
        descend(levels - 1)

    with pytest.raises(LookupError) as caught:
        descend(100)
    text = traceback_of(caught.value)
    assert "frames ..." in text
    assert len(text.splitlines()) < 100
    assert "abcdefghijklmnopqrstuvwxyz" not in text


def test_a_library_that_validates_in_one_place_has_a_cause_for_each_field() -> None:
    def cause(body: dict[str, object]) -> str:
        try:
            try:
                raise ValidationError([{"loc": ("choices", 0, next(iter(body))), "type": "missing"}])
            except ValidationError as invalid:
                raise LookupError("not valid") from invalid
        except LookupError as error:
            return class_and_place(error)

    assert cause({"usage": None}).endswith(" cause, choices.N.usage: missing")
    assert cause({"usage": None}) != cause({"id": None})
    part = stable_part(cause({"usage": None}))
    assert part is not None
    assert is_part(part, cause({"usage": None}))
    assert not is_part(part, cause({"id": None}))


class ValidationError(ValueError):
    """Stands in for pydantic's, which the suite does not require."""

    __module__ = "pydantic_core._pydantic_core"

    def __init__(self, errors: list[dict[str, object]]) -> None:
        super().__init__("not valid")
        self._errors = errors

    def errors(self) -> list[dict[str, object]]:
        return self._errors
