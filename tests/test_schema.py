"""What is wrong with a file, in plain English: no sentence of the JSON Schema library reaches a user."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from llm_conformance import schema
from llm_conformance.locations import SCHEMAS


def said(form: Any, value: Any) -> list[str]:
    """Return what is said of a value that a schema does not allow."""
    return [f"{schema.dotted(where)}: {message}" for where, message in schema.violations(validator(form), value)]


def validator(form: Any) -> Draft202012Validator:
    return Draft202012Validator(form)


@pytest.mark.parametrize(
    ("form", "value", "message"),
    [
        ({"type": "string"}, 7, "must be a string, and is 7"),
        ({"type": ["string", "null"]}, [], "must be a string or null, and is []"),
        ({"enum": ["json", "stream"]}, "steam", 'must be "json" or "stream", and is "steam"; did you mean stream?'),
        ({"const": 1}, 2, "must be 1, and is 2"),
        ({"pattern": "^/"}, "a", 'must be a JSON pointer, which begins with /, and is "a"'),
        ({"pattern": "^x$"}, "a", 'must match the pattern ^x$, and is "a"'),
        ({"required": ["title"]}, {}, "`title` is missing"),
        ({"minLength": 1}, "", "must not be empty"),
        ({"minLength": 10}, "a", 'must have at least 10 characters, and is "a"'),
        ({"maxLength": 3}, "abcd", "must have at most 3 characters, and has 4"),
        ({"minItems": 1}, [], "must not be empty"),
        ({"minProperties": 2}, {"a": 1}, 'must have at least 2 keys, and is {"a": 1}'),
        ({"uniqueItems": True}, [1, 1], "must not have the same item twice, and is [1, 1]"),
        ({"minimum": 0}, -1, "must be at least 0, and is -1"),
        ({"maximum": 599}, 600, "must be at most 599, and is 600"),
        ({"exclusiveMinimum": 0}, 0, "must be more than 0, and is 0"),
        ({"dependentRequired": {"start": ["citation"]}}, {"start": 1}, "`start` needs `citation`, which is missing"),
        ({"not": {"type": ["number", "object"]}}, 5, "must not be a number or an object, and is 5"),
        ({"not": {"required": ["role"]}}, {"role": 1}, "must not have `role` here"),
        (
            {"propertyNames": {"pattern": "^/"}},
            {"a": 1},
            'a key must be a JSON pointer, which begins with /, and is "a"',
        ),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, 7, "must be a string or a list, and is 7"),
        ({"anyOf": [{"type": "null"}, {"required": ["a"], "type": "object"}]}, {}, "`a` is missing"),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "`a` is missing or `b` is missing"),
        (
            {"oneOf": [{"not": {"required": ["b"]}}, {"properties": {"b": {}}, "additionalProperties": False}]},
            {"a": 1, "b": 1},
            "must not have `b` here or must not have `a` here",
        ),
        ({"oneOf": [{}, {}]}, 1, "has more than one of the forms of which it may have one"),
    ],
)
def test_a_violation_is_a_plain_sentence(form: Any, value: Any, message: str) -> None:
    assert said(form, value) == [f"the file: {message}"]


def test_a_value_that_must_be_left_out_is_named() -> None:
    assert said({"properties": {"raw": {"not": {}}}}, {"raw": 1}) == ["raw: must be left out"]


@pytest.mark.parametrize("value", [b"bytes", "x" * 5000, "\ud800"])
def test_any_value_is_shown_in_a_line(value: Any) -> None:
    (message,) = said({"type": "object"}, value)
    assert len(message.encode("utf-8")) < 300


def test_a_value_that_is_nested_deeply_is_shown() -> None:
    value: Any = 1
    for _ in range(400):
        value = [value]
    assert [len(message) < 300 for message in said({"type": "object"}, value)] == [True]


@pytest.mark.parametrize(
    ("name", "key", "message"),
    [
        ("deviations", "deviations", "no such key; did you mean deviation?"),
        ("scenario", "truth", "no such key; it is called expected now"),
        ("scenario", "expected.finish_reasons", "no such key; did you mean finish_reason?"),
        ("scenario", "expected.usage.prompt_token", "no such key; did you mean prompt_tokens?"),
        ("report", "adapter", "no such key; did you mean adapters?"),
    ],
)
def test_an_unknown_key_has_a_suggestion(name: str, key: str, message: str) -> None:
    value: Any = 0
    for each in reversed(key.split(".")):
        value = {each: value}
    found = {schema.dotted(where): message for where, message in schema.problems(name, value)}
    assert found[key] == message


def patterns(value: Any) -> Iterator[str]:
    """Yield the patterns of a schema."""
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        for inner in value.values():
            yield from patterns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from patterns(inner)


def test_every_pattern_of_a_schema_has_a_sentence() -> None:
    documents = [json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.schema.json")]
    assert {pattern for document in documents for pattern in patterns(document)} == set(schema.PATTERNS)
