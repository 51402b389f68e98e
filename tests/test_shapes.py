"""The quick check of a schema says of every value what jsonschema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llm_conformance import schema, toml_files, yaml_files
from llm_conformance.locations import CASSETTES, FORMATS, PROVIDERS, SCHEMAS
from llm_conformance.scenarios import load
from llm_conformance.schema import quick
from llm_conformance.server.apis.known import APIS
from tests.servers.asking import recordings_of
from tests.servers.reference import Reference
from tests.shell import ROOT
from tests.test_reports import WHOLE
from tests.test_servers import REFERENCES

QUICK = ("response", "stream-event")

ATOMS = st.sampled_from(
    ["", "a", "text", "stop", "function", "2025-01-31T12:00:00Z", "YQ==", "response.completed", "response.error"]
) | st.sampled_from([None, True, False, 0, 1, -1, 0.0, 1.5, float("nan"), -0.5])


def names(document: Any) -> set[str]:
    """Return the names of all properties in a schema."""
    if isinstance(document, list):
        return {name for item in document for name in names(item)}
    if not isinstance(document, dict):
        return set()
    own = document.get("properties")
    return {*(own if isinstance(own, dict) else ()), *(name for item in document.values() for name in names(item))}


def words(document: Any) -> set[str]:
    """Return all texts that a schema allows a value to be."""
    if isinstance(document, list):
        return {word for item in document for word in words(item)}
    if not isinstance(document, dict):
        return set()
    own = {each for each in [*document.get("enum", ()), document.get("const")] if isinstance(each, str)}
    return own | {word for item in document.values() for word in words(item)}


DOCUMENTS = [json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8")) for name in (*QUICK, "error")]
KEYS = st.sampled_from(sorted(names(DOCUMENTS)))
VALUES = st.recursive(
    ATOMS | st.sampled_from(sorted(words(DOCUMENTS))),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)

SEGMENT = {"type": "text", "content": "a", "metadata": {}}
CALL = {"id": "c", "type": "function", "name": "f", "arguments": "{}"}
RESPONSE = {
    "message": "a",
    "provider": "p",
    "model": "m",
    "finish_reason": "stop",
    "usage": {"prompt_tokens": 1, "raw": {}},
    "created": "2025-01-31T12:00:00Z",
    "reasoning": "r",
    "segments": [SEGMENT],
    "annotations": [{"start": 0, "end": 1, "data": {}}, {"start": None, "end": None, "data": {}}],
    "attachments": [{"id": None, "data": "YQ==", "text_index": 0}],
    "tool_calls": [CALL],
    "provider_meta": [{"provider_name": "p", "latency_ms": 0.5}],
    "raw_events": [{}],
}
EVENT = {"event_type": "response.output_text.delta", "delta": "a", "tool_call": None, "segments": [SEGMENT]}
ERROR = {"event_type": "response.error", "error": {"error_type": "E", "message": "m"}, "response": None}


def places(value: Any) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((key, *path) for key, item in items for path in places(item))]


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    """Return a copy of a value with another one at a path; with `...` the item there is left out."""
    if not path:
        return to
    items = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    key, *rest = path
    items[key] = changed(items[key], tuple(rest), to)
    items = {name: item for name, item in items.items() if item is not ...}
    return items if isinstance(value, dict) else list(items.values())


@st.composite
def nearly_valid(draw: st.DrawFn) -> Any:
    value = draw(st.sampled_from([RESPONSE, EVENT, ERROR]))
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(places(value)))
        value = changed(value, path, draw(VALUES | st.just(...)) if path else draw(VALUES))
    return value


@pytest.mark.parametrize("name", QUICK)
@given(value=nearly_valid() | VALUES)
@example(RESPONSE)
@example(EVENT)
@example(ERROR)
@settings(max_examples=150, deadline=None)
def test_the_quick_check_agrees_with_jsonschema(name: str, value: Any) -> None:
    assert schema.quick_check(name)(value) == is_valid(name, value)


def is_valid(name: str, value: Any) -> bool:
    """Return what jsonschema says of a value. `schema.problems` does not ask it if the quick check is content."""
    return not list(schema.violations(schema.validator(name), value))


@pytest.mark.parametrize(("name", "value"), [("response", RESPONSE), ("stream-event", EVENT), ("stream-event", ERROR)])
def test_what_is_valid_is_seen_without_jsonschema(name: str, value: Any) -> None:
    assert schema.quick_check(name)(value)


B = {"b": {"properties": {"b": {"type": "integer"}}}}


@pytest.mark.parametrize(
    "form",
    [
        {"type": ["integer", "null"], "minimum": 0},
        {"type": "number"},
        {"enum": ["a", None]},
        {"const": "a"},
        {"const": True},
        {"enum": [1, "a", False]},
        {"required": ["a"], "properties": {"a": {"type": "string", "minLength": 1}}},
        {"if": {"type": "string"}, "then": {"pattern": "^a"}},
        {"if": {"type": "string"}, "else": {"type": "null"}},
        {"anyOf": [{"type": "array", "items": {"type": "boolean"}, "minItems": 1}, {"type": "object"}]},
        {"allOf": [{"type": "string"}, {"pattern": "b"}]},
        {"additionalProperties": False, "properties": {"a": {"type": "string"}}},
        {"additionalProperties": {"type": "integer"}},
        {"properties": {"a": {}}, "unevaluatedProperties": False},
        {"$ref": "#/$defs/b", "properties": {"a": {}}, "unevaluatedProperties": False, "$defs": B},
        {"$ref": "#/$defs/b", "unevaluatedProperties": {"type": "string"}, "$defs": B},
        {"propertyNames": {"pattern": "^a"}},
        {"not": {"required": ["a"]}},
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"maxLength": 1},
        {"maxItems": 1},
        {"additionalProperties": True},
        {"properties": {"a": False}},
        {"dependentRequired": {"a": ["b", "c"]}},
        {"items": {"type": "string"}, "uniqueItems": True},
        {"minProperties": 1},
        {"maximum": 0},
        {"exclusiveMinimum": 0},
        {"format": "date-time"},
        {},
    ],
    ids=json.dumps,
)
def test_each_keyword_means_what_it_means_to_jsonschema(form: dict[str, Any]) -> None:
    values: list[Any] = [
        None,
        True,
        0,
        -1,
        1,
        1.5,
        "",
        "a",
        "ab",
        "b",
        [],
        [True],
        [1],
        {},
        {"a": ""},
        {"a": "b"},
        {"a": 1},
    ]
    values += [False, ["a", "b"], ["a", "a"], {"b": 1}, {"a": "b", "b": 1}, {"a": 1, "b": 1, "c": 1}]
    values += [1.0, 0.0, -1.0, {"a": 1.0}, {"b": 1.0}]  # no integers, other than in JSON Schema
    check, slow = quick.check(form, "", lambda _reference: B["b"]), schema.of(form)
    assert [value for value in values if check(value)] == [value for value in values if slow.is_valid(value)]


@pytest.mark.parametrize(
    "form",
    [
        {"multipleOf": 3},
        {"unevaluatedProperties": False, "anyOf": [{"required": ["a"]}]},
        {"properties": {"a": {"maxProperties": 1}}},
        {"enum": [1.5]},
    ],
)
def test_a_keyword_that_is_not_known_is_no_valid_value(form: dict[str, Any]) -> None:
    with pytest.raises(quick.UnknownKeywordError):
        quick.check(form, "", lambda _reference: {})


FILES = [
    *(("scenario", path) for path in sorted(CASSETTES.glob("*/*.scenario.yaml"))[::80]),
    *(("cassette", load.cassette_path(path)) for path in sorted(CASSETTES.glob("*/*.scenario.yaml"))[::80]),
    *(("deviations", path) for path in sorted((ROOT / "peers").glob("*/deviations.toml"))[::10]),
    *(("provider", path) for path in sorted(PROVIDERS.glob("*.toml"))),
    *(("read-rules", path) for path in sorted(FORMATS.glob("*/read.toml"))),
    ("public-corpus", CASSETTES / "public.toml"),
]


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize(
    ("name", "path"), [pytest.param(*each, id=f"{each[1].parent.name}/{each[1].name}") for each in FILES]
)
def test_a_file_is_valid_to_both(name: str, path: Path) -> None:
    """Both also agree on files in which one value is missing or has another type. Some of these are valid."""
    is_yaml = path.suffix == ".yaml"
    document = yaml_files.parse(path, path.read_text("utf-8")) if is_yaml else toml_files.read(path)[0]
    expect_agreement(name, document, most=40)


OTHERS = [..., 7, "a", [], {"a": 1}, 3.0, None, True, "", -1, 0.5]
"""What values are changed to; `...` leaves a value out."""


def expect_agreement(name: str, document: Any, most: int) -> None:
    """Change a value in `most` places, one after the other, and compare both checks."""
    found = places(document)
    step = 1 + len(found) // most
    for number, place in enumerate(found[::step]):
        other = changed(document, place, OTHERS[number % len(OTHERS)]) if place else document
        assert schema.quick_check(name)(other) == is_valid(name, other), place


def test_a_report_is_valid_to_both() -> None:
    expect_agreement("report", WHOLE, most=60)


@pytest.mark.parametrize("reference", REFERENCES)
def test_an_answer_of_a_server_is_valid_to_both(reference: type[Reference]) -> None:
    target, kept = recordings_of(reference())
    found: dict[tuple[str, str], Any] = {}  # one document of each part with the same keys
    for each in (each for each in kept if each.status == 200):
        if each.mode == "json":
            found.setdefault(("response", ""), json.loads(each.body))
            continue
        for event in APIS[target.api].framing.events(each.body):
            if event.data.startswith("{"):
                chunk = json.loads(event.data)
                found.setdefault(("chunk", str(sorted(chunk))), chunk)
    assert len(found) > 1
    for (part, _), document in found.items():
        expect_agreement(f"server-{target.api}#/$defs/{part}", document, most=20)
