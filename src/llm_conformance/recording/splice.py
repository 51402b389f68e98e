"""Replace an earlier turn's old answer with its new answer in the recorded request of a later turn.

The request repeats the earlier answer in the provider's form: its text, reasoning, opaque parts and tool calls. These
are replaced wherever they occur. Texts of the user and the tools stay unchanged, except for the ids of tool calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.compare import as_json, same
from llm_conformance.recording.provider_request import CannotRecordError
from llm_conformance.wire.answers import WireFacts

CONVERSATION = ("messages", "input", "contents")
"""The fields of a request that hold the conversation."""
_ARGUMENTS = ("input", "args", "arguments")
_NEVER_REPLACED = ("role", "type", "name")
_OTHER_ROLES = ("user", "system", "developer", "tool")


@dataclass(frozen=True)
class Splice:
    """What to replace in a request. Maps old to new texts, ids of tool calls, and arguments that are JSON values."""

    texts: Mapping[str, str]
    ids: Mapping[str, str]
    arguments: tuple[tuple[Any, Any], ...]

    def apply_to_request(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with the new answer in its conversation; all other fields are unchanged."""
        return {key: self.apply(value) if key in CONVERSATION else value for key, value in body.items()}

    def apply(self, value: Any, only_ids: bool = False) -> Any:
        """Return a JSON value with the new answer in it, or only with the new ids."""
        if isinstance(value, str):
            value = self.ids.get(value, value)
            return value if only_ids else self.texts.get(value, value)
        if isinstance(value, list):
            return [self.apply(each, only_ids) for each in value]
        if isinstance(value, Mapping):
            only_ids = only_ids or value.get("role") in _OTHER_ROLES
            return {key: self._apply_to_field(key, each, only_ids) for key, each in value.items()}
        return value

    def _apply_to_field(self, key: str, value: Any, only_ids: bool) -> Any:
        if key in _ARGUMENTS and not only_ids:
            for old, new in self.arguments:
                if same(value, old):
                    return new
        return value if key in _NEVER_REPLACED else self.apply(value, only_ids)


def splice(old: WireFacts, new: WireFacts) -> Splice:
    """Return the replacements that turn an old answer into a new one.

    Raises:
        CannotRecordError: The new answer has different tool calls or a different number of blocks.
    """
    if [name for _, name, _ in old.tool_calls] != [name for _, name, _ in new.tool_calls]:
        raise CannotRecordError("the new answer calls other tools, so the recorded tool results do not fit it")
    if len(old.opaque) != len(new.opaque) or len(old.blocks) != len(new.blocks):
        raise CannotRecordError("the new answer has another number of blocks; write the request of this turn again")
    calls = list(zip(old.tool_calls, new.tool_calls, strict=True))
    return Splice(
        texts={was: now for was, now in _texts(old, new) if was},
        ids={was[0]: now[0] for was, now in calls if was[0]},
        arguments=tuple((as_json(was[2] or "{}"), as_json(now[2] or "{}")) for was, now in calls),
    )


def _texts(old: WireFacts, new: WireFacts) -> Iterator[tuple[str, str]]:
    yield from zip(old.blocks.values(), new.blocks.values(), strict=True)
    yield from zip(old.opaque, new.opaque, strict=True)
    yield old.text, new.text
    yield old.reasoning, new.reasoning
    yield from ((was[2], now[2]) for was, now in zip(old.tool_calls, new.tool_calls, strict=True))
