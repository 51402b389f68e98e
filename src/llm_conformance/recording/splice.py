"""A later turn asked again: its recorded request, with the new answer in the place of the old one.

The request carries the earlier answer as the provider wants it: its text, its reasoning, its sealed parts, its calls.
Wherever a recorded one stands, the new one is put; what the user and the tools say stays, but for the ids of calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.compare import as_json, same
from llm_conformance.recording.drafts import CannotAskError
from llm_conformance.wire.answers import WireFacts

CONVERSATION = ("messages", "input", "contents")
"""Fields of a request that hold what was said before."""
_ARGUMENTS = ("input", "args", "arguments")
_NEVER = ("role", "type", "name")
_OTHERS = ("user", "system", "developer", "tool")


@dataclass(frozen=True)
class Splice:
    """What of a request is to be replaced: texts, ids of calls, and arguments that stand there as JSON values."""

    texts: Mapping[str, str]
    ids: Mapping[str, str]
    arguments: tuple[tuple[Any, Any], ...]

    def of_request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with the new answer in its conversation; tools and switches are none of it."""
        return {key: self.of(value) if key in CONVERSATION else value for key, value in request.items()}

    def of(self, value: Any, others: bool = False) -> Any:
        """Return a value with the new answer in it; where `others` say it, only ids are replaced."""
        if isinstance(value, str):
            value = self.ids.get(value, value)
            return value if others else self.texts.get(value, value)
        if isinstance(value, list):
            return [self.of(each, others) for each in value]
        if isinstance(value, Mapping):
            others = others or value.get("role") in _OTHERS
            return {key: self._of_field(key, each, others) for key, each in value.items()}
        return value

    def _of_field(self, key: str, value: Any, others: bool) -> Any:
        if key in _ARGUMENTS and not others:
            for old, new in self.arguments:
                if same(value, old):
                    return new
        return value if key in _NEVER else self.of(value, others)


def splice(old: WireFacts, new: WireFacts) -> Splice:
    """Return what has become of an answer. Raises CannotAskError where the new one is built in another way."""
    if [name for _, name, _ in old.tool_calls] != [name for _, name, _ in new.tool_calls]:
        raise CannotAskError("the new answer before it calls other tools, so the results that follow do not fit")
    if len(old.opaque) != len(new.opaque) or len(old.blocks) != len(new.blocks):
        raise CannotAskError("the new answer before it has more or fewer blocks; write the request of this turn anew")
    calls = list(zip(old.tool_calls, new.tool_calls, strict=True))
    return Splice(
        texts={was: now for was, now in _pairs(old, new) if was},
        ids={was[0]: now[0] for was, now in calls if was[0]},
        arguments=tuple((as_json(was[2] or "{}"), as_json(now[2] or "{}")) for was, now in calls),
    )


def _pairs(old: WireFacts, new: WireFacts) -> Iterator[tuple[str, str]]:
    yield from zip(old.blocks.values(), new.blocks.values(), strict=True)
    yield from zip(old.opaque, new.opaque, strict=True)
    yield old.text, new.text
    yield old.reasoning, new.reasoning
    yield from ((was[2], now[2]) for was, now in zip(old.tool_calls, new.tool_calls, strict=True))
