"""What came back from an adapter, read without trust.

A rule reads fields through `Returned`; a field that the schema refuses is not read, the rule then fails and points to
SHP-1. So a wrong type is reported once for what it is, and no rule stumbles over it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from llm_conformance import schema
from llm_conformance.compare import shown
from llm_conformance.contract import Annotation, Attachment, Segment, ToolCall, Usage
from llm_conformance.contract.values import plain
from llm_conformance.rules.violation import Violation

T = TypeVar("T")


@dataclass(frozen=True)
class Raised:
    """An error that an adapter ended with: its class, the contract's class for it (None if unknown), its text.

    Attributes:
        provider: What it says of the provider; None if nothing.
        has_origin: Whether the exception behind it can be had, or it is that exception itself.
        dump: All that it says, in any form, the exceptions behind it included: where a key would be found.
        headers: The headers of the answer that it still has, or that went with it.
    """

    type: str
    contract_type: str | None
    text: str
    provider: str | None = None
    has_origin: bool = False
    dump: str = ""
    headers: str = ""

    def __str__(self) -> str:
        """Return class and text, shortened."""
        text = self.text if len(self.text) <= 300 else f"{self.text[:300]} ..."
        return f"{self.type}: {text}"


@dataclass(frozen=True)
class Outcome:
    """All that one exchange showed.

    Attributes:
        response: The response returned, or carried by the last `response.completed`; None if there was none.
        events: The stream's events in order; empty for a plain answer.
        event_faults: What came in a stream and is no event at all, as (position, description).
        returned: The response as the adapter gave it, to be handed back to it; None if there was none.
        request: The body of the request that was answered; None if there was none.
        attempts: How many requests were made, as far as the transport can tell them.
        repeats: How many of them asked again what was answered already.
        raised: The error that was raised, or that a `response.error` event carries.
        unsupported: Why there is nothing to judge and the adapter is not to blame for it here: it asked for a mode that
            was not recorded, or gave no answer in the turn before, which is judged there.
        fault: Why there is nothing to judge: the adapter hung, returned nonsense, or asked for something else.
        hung: Whether the call was given up.
        buffered: Whether no content was shown before the last frame; None if that was not looked at.
        connections: Connections that were refused, and who tried.
        mutations: Parts of the call that were changed.
        logs: Names of the loggers that wrote the API key.
    """

    response: Returned | None = None
    events: tuple[Mapping[str, Any], ...] = ()
    event_faults: tuple[tuple[int, str], ...] = ()
    returned: Any = None
    request: Mapping[str, Any] | None = None
    attempts: int = 0
    repeats: int = 0
    raised: Raised | None = None
    unsupported: str | None = None
    fault: str | None = None
    hung: bool = False
    buffered: bool | None = None
    connections: tuple[str, ...] = ()
    mutations: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


def as_mapping(value: Any) -> dict[str, Any]:
    """Return a returned object as a dict: a mapping, `to_dict`, `model_dump` or dataclass fields. Raises TypeError."""
    if isinstance(value, Mapping):
        return dict(value)
    result: Any = None
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "to_dict"):
        result = plain(value)
    elif callable(getattr(value, "to_dict", None)):
        result = value.to_dict()
    elif callable(getattr(value, "model_dump", None)):
        result = value.model_dump(mode="json")
    if not isinstance(result, dict):
        raise TypeError(
            f"{_described(value)}, which is neither a mapping nor an object with to_dict, model_dump or fields"
        )
    return result


def _described(value: Any) -> str:
    text = shown(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:80] + ' ...'}"


class Returned:
    """A returned response, field by field.

    Args:
        data: The response as a mapping; `data` stays readable for rules that judge it whole.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.problems = tuple(schema.problems("response", data))
        self._invalid = {where[0]: message for where, message in self.problems if where}

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field that the schema accepts, `default` if it is absent. Raises Violation if it is not valid."""
        if name in self._invalid:
            raise Violation(f"`{name}` as in the response schema", f"not valid (SHP-1): {self._invalid[name]}")
        return self.data.get(name, default)

    @property
    def message(self) -> str:
        """The visible answer; "" if the field is missing, which SHP-1 reports."""
        text: str = self.get("message", "")
        return text

    @property
    def reasoning(self) -> str | None:
        """The visible reasoning trace."""
        text: str | None = self.get("reasoning")
        return text

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments in order."""
        return tuple(_known(Segment, item) for item in self.get("segments", ()))

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """The annotations in order."""
        return tuple(_known(Annotation, item) for item in self.get("annotations", ()))

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The attachments in order."""
        return tuple(_known(Attachment, item) for item in self.get("attachments", ()))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in order."""
        return tuple(_known(ToolCall, {"id": None, **item}) for item in self.get("tool_calls", ()))

    @property
    def usage(self) -> Usage | None:
        """The usage, None when there is none."""
        value = self.get("usage")
        return None if value is None else _known(Usage, value)


def _known(kind: type[T], item: Mapping[str, Any]) -> T:
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{key: value for key, value in item.items() if key in names})
