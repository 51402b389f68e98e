"""Writing a scenario file: a truth, or one a mode, as YAML that `llm_conformance.scenarios` reads again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from llm_conformance.contract.values import plain
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import COUNTS

_ALWAYS = frozenset({"reasoning_source", "refusal", "message_is_json", "may_raise"})
"""What is no claim by itself, and stands there where it is not as usual."""


def text(document: Mapping[str, Any]) -> str:
    """Return a scenario file's text."""
    written: str = yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=120)
    return written


class _Dumper(yaml.SafeDumper):
    """The safe dumper, which writes out what stands there twice: aliases are not read."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def stated(expected: Expected) -> dict[str, Any]:
    """Return a truth as it stands in a scenario file: what it states, and nothing else."""
    if expected.error is not None:
        failure = {"error": expected.error, "fault": expected.fault, "retry_after": expected.retry_after}
        return {key: value for key, value in failure.items() if value}
    usage = expected.usage and {count: getattr(expected.usage, count) for count in COUNTS}
    said: dict[str, Any] = {
        "id": _one_or_all(expected.ids),
        "created": _one_or_all(expected.times),
        "model": expected.model,
        "message": expected.message,
        "message_is_json": expected.message_is_json,
        "refusal": expected.refusal,
        "reasoning": expected.reasoning,
        "reasoning_source": expected.reasoning_source,
        "segments": [_without_empty(segment) for segment in plain(expected.segments)],
        "annotations": plain(expected.annotations),
        "tool_calls": plain(expected.tool_calls),
        "attachments": plain(expected.attachments),
        "usage": usage and {count: value for count, value in usage.items() if value is not None},
        "finish_reason": _one_or_all(expected.finish_reasons),
        "raw_finish_reason": _one_or_all(expected.raw_finish_reasons),
        "may_raise": list(expected.may_raise),
    }
    if expected.times == (None,):
        del said["created"]  # what the provider does not say is no claim
    usual = {"message_is_json": False, "refusal": "", "reasoning_source": "native", "may_raise": []}
    return {
        key: value for key, value in said.items() if key in expected.stated or (key in _ALWAYS and value != usual[key])
    }


def stated_by_mode(expected_by_mode: Mapping[Mode, Expected]) -> dict[str, Any]:
    """Return the truths of several recordings: what they have in common once, the rest under the mode's name."""
    said = {mode: stated(expected) for mode, expected in expected_by_mode.items()}
    if len(said) == 1:
        return next(iter(said.values()))
    first, *others = said.values()
    shared = {key: value for key, value in first.items() if all(key in one and one[key] == value for one in others)}
    own = {mode: {key: value for key, value in one.items() if key not in shared} for mode, one in said.items()}
    return shared | {mode: rest for mode, rest in own.items() if rest}


def _without_empty(segment: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in segment.items() if value != {}}


def _one_or_all(words: tuple[str | None, ...]) -> Any:
    return words[0] if len(words) == 1 else list(words)
