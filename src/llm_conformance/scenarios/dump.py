"""Write expected values as the YAML of a scenario file. `llm_conformance.scenarios.load` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from llm_conformance.compare import as_json
from llm_conformance.contract.values import plain
from llm_conformance.scenarios.expected import Expected, ExpectedToolCall, plain_segments
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import COUNTS

_DEFAULTS: Mapping[str, Any] = {
    "message_is_json": False,
    "refusal": "",
    "reasoning_source": "native",
    "may_raise": [],
}
"""Keys that are written even if they are not stated, unless they have these default values."""


def text(document: Mapping[str, Any]) -> str:
    """Return the text of a scenario file."""
    dumped: str = yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=120)
    return dumped


class _Dumper(yaml.SafeDumper):
    """The safe dumper without aliases, because the reader refuses aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """Return a text. A text with line ends that a YAML reader would turn into spaces is quoted."""
        style = '"' if set(data) & _LINE_ENDS else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)


_LINE_ENDS = frozenset("\x85\u2028\u2029")
_Dumper.add_representer(str, _Dumper.represent_str)


def stated(expected: Expected) -> dict[str, Any]:
    """Return the `expected` of a scenario file: the stated values, and others that differ from `_DEFAULTS`."""
    if expected.error is not None:
        failure = {"error": expected.error, "fault": expected.fault, "retry_after": expected.retry_after}
        also = {"may_raise": list(expected.may_raise)}
        return {key: value for key, value in {**failure, **also}.items() if value}
    usage = expected.usage and {count: getattr(expected.usage, count) for count in COUNTS}
    values: dict[str, Any] = {
        "id": _one_or_all(expected.ids),
        "created": _one_or_all(expected.times),
        "model": expected.model,
        "message": expected.message,
        "message_is_json": expected.message_is_json,
        "refusal": expected.refusal,
        "reasoning": expected.reasoning,
        "reasoning_source": expected.reasoning_source,
        "segments": _segments(expected),
        "annotations": plain(expected.annotations),
        "tool_calls": [_tool_call(call) for call in expected.tool_calls],
        "attachments": plain(expected.attachments),
        "usage": usage and {count: value for count, value in usage.items() if value is not None},
        "finish_reason": _one_or_all(expected.finish_reasons),
        "raw_finish_reason": _one_or_all(expected.raw_finish_reasons),
        "may_raise": list(expected.may_raise),
    }
    omitted = {key for key, value in _DEFAULTS.items() if values[key] == value} - expected.stated
    if expected.times == (None,):
        omitted.add("created")  # if the answer has no time, an adapter may return any time
    if "segments" in expected.stated and expected.segments == plain_segments(expected):
        omitted.add("segments")
    written = expected.stated | _DEFAULTS.keys() | ({"segments"} if "message" in expected.stated else set())
    return {key: value for key, value in values.items() if key in written - omitted}


def _tool_call(call: ExpectedToolCall) -> dict[str, Any]:
    if call.has_object:
        return {"id": call.id, "name": [call.name, *call.other_names], "arguments": as_json(call.arguments)}
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "type": call.type}


def stated_by_mode(expected_by_mode: Mapping[Mode, Expected]) -> dict[str, Any]:
    """Return the `expected` of several recordings.

    A value that all recordings have is written once, any other value below the name of its mode.
    """
    by_mode = {mode: stated(expected) for mode, expected in expected_by_mode.items()}
    if len(by_mode) == 1:
        return next(iter(by_mode.values()))
    first, *others = by_mode.values()
    shared = {
        key: value for key, value in first.items() if all(key in other and other[key] == value for other in others)
    }
    own = {mode: {key: value for key, value in values.items() if key not in shared} for mode, values in by_mode.items()}
    return shared | {mode: values for mode, values in own.items() if values}


def _segments(expected: Expected) -> list[dict[str, Any]] | None:
    """Return the segments, without empty fields; None if they are not stated."""
    if "segments" not in expected.stated:
        return None
    return [{key: value for key, value in segment.items() if value != {}} for segment in plain(expected.segments)]


def _one_or_all(words: tuple[str | None, ...]) -> Any:
    return words[0] if len(words) == 1 else list(words)
