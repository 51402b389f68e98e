"""Checks of the lint: the expected values of a scenario are those that follow from its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llm_conformance import schema
from llm_conformance.compare import as_json, first_difference, same, show
from llm_conformance.contract import ERROR_TYPES, Annotation, error_for_status
from llm_conformance.scenarios import derive
from llm_conformance.scenarios.checks.error_checks import (
    class_is_named,
    incompleteness_is_stated,
    key_is_in_probes_only,
)
from llm_conformance.scenarios.checks.recording import Check, Problems, Recording
from llm_conformance.scenarios.citations import pair
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire import answers
from llm_conformance.wire.providers.api import COUNTS

_ALWAYS_STATED = ("id", "model", "message", "finish_reason", "raw_finish_reason", "usage")
_OPTIONAL = frozenset({"created", "model", "usage", "raw_finish_reason"})
"""Keys that are compared only if the scenario states them. To omit any other key is to state that it is empty."""
_EXCERPT = 20


def _values_are_those_of_the_bytes(recording: Recording) -> Problems:
    expected, derived = recording.expected, recording.derived
    for key, value_of in _COMPARED.items():
        if key in _OPTIONAL - expected.stated or (key == "message" and expected.unknown):
            continue
        stated, given = (value_of(recording, values) for values in (expected, derived))
        yield from _differences(recording, (key,), stated, given)


def _differences(recording: Recording, path: tuple[str, ...], stated: Any, given: Any) -> Problems:
    if same(stated, given):
        return
    if isinstance(stated, Mapping) and isinstance(given, Mapping) and stated.keys() == given.keys():
        for key in stated:
            yield from _differences(recording, (*path, key), stated[key], given[key])
        return
    at = ""
    if isinstance(stated, str) and isinstance(given, str):
        start = first_difference(stated, given)
        at = f", at code point {start}"
        stated, given = (text[start : start + _EXCERPT] for text in (stated, given))
    where = recording.where(*path)
    yield f"{'.'.join(path)}: the scenario states {_show(stated)}, the bytes give {_show(given)}{at}", where


def _show(value: Any) -> str:
    if isinstance(value, frozenset):
        return " or ".join(sorted(map(show, value))) or "none"
    return show(value)


def _message(recording: Recording, values: Expected) -> Any:
    both_json = recording.expected.message_is_json and recording.derived.message_is_json
    return as_json(values.message) if both_json else values.message


def _tool_calls(recording: Recording, values: Expected) -> Any:
    """Return the tool calls for comparison: arguments as text if the API sends text, else as JSON values."""
    is_text = recording.api.tool_arguments == "text"
    return [
        (
            *(call.id, " or ".join(sorted({call.name, *call.other_names}))),
            call.arguments if is_text and not call.has_object else as_json(call.arguments),
        )
        for call in values.tool_calls
    ]


_COMPARED: Mapping[str, Callable[[Recording, Expected], Any]] = {
    "id": lambda _, values: frozenset(values.ids) - {None},
    "created": lambda _, values: frozenset(values.times) - {None},
    "model": lambda _, values: values.model,
    "message_is_json": lambda _, values: values.message_is_json,
    "reasoning_source": lambda _, values: values.reasoning_source,
    "message": _message,
    "reasoning": lambda _, values: values.reasoning or "",
    "refusal": lambda _, values: values.refusal,
    "attachments": lambda _, values: [
        {key: piece.get(key) or "" for key in ("data", "transcript")} for piece in values.attachments
    ],
    "tool_calls": _tool_calls,
    "usage": lambda _, values: values.usage and {count: getattr(values.usage, count) for count in COUNTS},
    "raw_finish_reason": lambda _, values: frozenset(values.raw_finish_reasons),
    "finish_reason": lambda _, values: frozenset(values.finish_reasons),
}


def _segments_join(recording: Recording) -> Problems:
    expected = recording.expected
    if "segments" not in expected.stated:
        return
    text = "".join(segment.content for segment in expected.segments if segment.type == "text")
    if text != expected.message:
        yield "the text segments do not join to the message", recording.where("segments")
    reasoning = "".join(segment.content for segment in expected.segments if segment.type == "reasoning")
    if reasoning != (expected.reasoning or ""):
        yield "the reasoning segments do not join to the reasoning", recording.where("segments")
    for number, segment in enumerate(expected.segments):
        for key in ("signature", "redacted", "encrypted"):
            value = segment.metadata.get(key)
            if isinstance(value, str) and value not in recording.facts.opaque:
                yield f"the {key} is not in the bytes", recording.where("segments", number)


def _omitted_segments_are_plain(recording: Recording) -> Problems:
    document = recording.file.document["expected"]
    if "segments" in {**document, **document.get(recording.mode, {})}:
        return
    if not derive.in_plain_order(recording.interaction, recording.api):
        what = "the bytes do not give reasoning, text and tool calls in this order: state `segments`"
        yield what, ("expected",)


def _spans_are_in_the_message(recording: Recording) -> Problems:
    message = recording.expected.message
    for number, annotation in enumerate(recording.expected.annotations):
        where = recording.where("annotations", number)
        start, end = annotation.start, annotation.end
        if (start is None) != (end is None) or (start is None) != (annotation.text is None):
            yield "start, end and text have to be all given or all null", where
        elif start is not None and end is not None:
            if not 0 <= start <= end <= len(message):
                yield f"({start}, {end}) is outside the message of {len(message)} code points", where
            elif message[start:end] != annotation.text:
                yield f"message[{start}:{end}] is {message[start:end]!r}, not the stated text", where


def _annotations_are_those_of_the_bytes(recording: Recording) -> Problems:
    """Check that there are as many annotations as in the bytes, with the same spans and data."""
    expected, derived, facts = recording.expected.annotations, recording.derived.annotations, recording.facts
    if "annotations" not in recording.expected.stated and (not derived or facts.found):
        return  # other results of the provider's own search may become annotations, but need not
    if len(expected) != len(derived):
        what = f"annotations: the scenario states {len(expected)}, the bytes give {len(derived)}"
        yield what, recording.where("annotations")
        return
    leaves = set(_leaves(list(answers.documents(recording.interaction)))) if derived else set()
    stated = [Annotation(annotation.start, annotation.end, annotation.data) for annotation in expected]
    for matched, citation in zip(pair(derived, stated), facts.citations, strict=True):
        given, actual = matched.expected, matched.actual
        if actual is None:
            yield f"the bytes give an annotation with {given.data}", recording.where("annotations")
            continue
        number = stated.index(actual)
        where = recording.where("annotations", number)
        if (actual.start, actual.end) != (given.start, given.end):
            what = f"the scenario states {(actual.start, actual.end)}, the bytes give {(given.start, given.end)}"
            yield f"span: {what}", where
        if actual.start is not None and citation.annotated not in (None, expected[number].text):
            yield f"text: the bytes give {show(citation.annotated)}", where
        for key, value in given.data.items():
            if not same(actual.data.get(key), value):
                what = f"the scenario states {show(actual.data.get(key))}, the bytes give {show(value)}"
                yield f"data.{key}: {what}", where
        if not set(_leaves(actual.data)) <= leaves:
            yield "data has something that is not in the bytes", where


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _body_matches_the_wire_schema(recording: Recording) -> Problems:
    if recording.expected.unknown:
        return
    part = "chunk" if recording.interaction.streamed else "response"
    found: dict[tuple[str, str], list[int]] = {}
    for number, document in enumerate(answers.documents(recording.interaction)):
        for where, message in schema.problems(f"wire/{recording.api.wire}#/$defs/{part}", document):
            found.setdefault(("/".join(map(str, where)), message), []).append(number)
    for (field, message), numbers in found.items():
        more = f" (and of {len(numbers) - 1} more)" if len(numbers) > 1 else ""
        yield f"document {numbers[0]} of the body{more}, at /{field}: {message}", ("recordings", recording.mode)


def _states_enough(recording: Recording) -> Problems:
    missing = [key for key in _ALWAYS_STATED if key not in recording.expected.stated]
    if missing:
        yield f"`expected` of {recording.mode} does not state {', '.join(missing)}", ("expected",)
    if recording.file.document["recordings"].get("same_content") and len(recording.file.modes) < 2:
        yield "same_content needs both recordings", ("recordings",)


def _errors_are_of_the_contract(recording: Recording) -> Problems:
    for name in (recording.expected.error, *recording.expected.may_raise):
        if name is not None and name not in ERROR_TYPES:
            yield f"{name!r} is no error class of the contract", ("expected",)


def _bytes_are_an_error(recording: Recording) -> Problems:
    facts, status = recording.facts, recording.interaction.status
    error = error_for_status(status).__name__ if status >= 400 else recording.expected.error
    if recording.expected.error != error:
        yield f"a status of {status} is {error}", recording.where("error")
    if not (facts.error or (facts.finish is None and not facts.ended)):
        yield "error: the bytes have no error, and they end properly", recording.where("error")


CHECKS_OF_ANSWERS: tuple[Check, ...] = (
    _body_matches_the_wire_schema,
    _states_enough,
    _errors_are_of_the_contract,
    _values_are_those_of_the_bytes,
    _segments_join,
    _omitted_segments_are_plain,
    _spans_are_in_the_message,
    _annotations_are_those_of_the_bytes,
    key_is_in_probes_only,
)
CHECKS_OF_ERRORS: tuple[Check, ...] = (
    _errors_are_of_the_contract,
    _bytes_are_an_error,
    class_is_named,
    incompleteness_is_stated,
    key_is_in_probes_only,
)
