"""Checks of the lint: the answer names the class of error that is expected, and only a probe has the whole API key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from llm_conformance.contract import LLMError
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.scenarios.checks.recording import Problems, Recording
from llm_conformance.wire import answers

_NAMING = ("type", "code", "status", "status_code")
_ANY = LLMError.__name__
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def class_is_named(recording: Recording) -> Problems:
    """Report an expected class other than LLMError if the status is below 400 and the error names no class.

    A text does not name a class, and neither does a stream that merely ends too early. The lint cannot tell if a word
    names a class; the author has to look this up in the provider's documentation.
    """
    expected, facts = recording.expected, recording.facts
    if recording.interaction.status >= 400 or expected.fault not in ("", "incomplete") or expected.error == _ANY:
        return
    if not facts.error:
        yield f"the bytes end without naming an error: any is right, which is {_ANY}", recording.where("error")
    elif not any(_places_that_name(list(answers.documents(recording.interaction)), facts.error)):
        yield f"the error has neither status nor type nor code: any is right, which is {_ANY}", recording.where("error")


def incompleteness_is_stated(recording: Recording) -> Problems:
    """Report a stream that ends too early without `fault: incomplete`, and this fault for any other answer."""
    expected, facts = recording.expected, recording.facts
    if recording.interaction.status >= 400 or expected.fault in ("malformed", "connection"):
        return
    if expected.fault and recording.mode != "stream":
        yield "fault: only a stream is `incomplete`; a plain body is `malformed`", recording.where("fault")
    has_end = facts.finish is not None or facts.ended or facts.error
    if not has_end and not expected.fault and recording.interaction.streamed:
        yield "the stream ends too early and has no error: state `fault: incomplete`", recording.where("error")
    elif has_end and expected.fault:
        yield "fault: the stream has an error, or ends properly", recording.where("fault")


def key_is_in_probes_only(recording: Recording) -> Problems:
    """Report a response that repeats the whole API key, unless the scenario is a probe.

    Providers mask the keys that they repeat. So only a probe may blame an adapter that passes on such a response.
    """
    if CANARY_KEY.encode() in recording.interaction.body and recording.file.cassette.grounds != "probe":
        yield "the response has the whole API key, which providers mask: mask it, or make this a probe", ("recordings",)


def _places_that_name(value: Any, error: Any, key: str = "", beside: Mapping[str, Any] = _NOTHING) -> Iterator[bool]:
    """Yield for each place of the error in a value whether the error, its key or a field beside it names a class."""
    if value == error:
        parts = error if isinstance(error, list) else [error]
        yield key.endswith("Exception") or any(map(_names, (*parts, beside)))
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _places_that_name(item, error, name, value)
    elif isinstance(value, list):
        for item in value:
            yield from _places_that_name(item, error)


def _names(fields: Any) -> bool:
    return isinstance(fields, Mapping) and any(fields.get(name) not in (None, "", "error") for name in _NAMING)
