"""What came back from an adapter.

Rules read the fields of a response through `Returned`. If a field is invalid, SHP-1 fails and a rule that reads the
field is blocked. So no rule has to deal with values that the schema rejects.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from llm_conformance.contract import Annotation, Attachment, Segment, ToolCall, Usage
from llm_conformance.formats.differences import Difference
from llm_conformance.rules import shapes
from llm_conformance.rules.violation import Blocked

T = TypeVar("T")


@dataclass(frozen=True)
class Raised:
    """The error that an adapter raised, or reported in a `response.error` event.

    Attributes:
        type: The name of its class.
        contract_type: The name of the contract's class for it; None if unknown.
        text: Its message.
        provider: The provider that it names; None if it names none.
        has_origin: Whether the error keeps the exception behind it, or is that exception itself.
        dump: All texts of the error and of the exceptions behind it, to search for the API key.
        headers: The headers of the provider's response, as far as the error keeps them, to search for the API key.
        retry_after: `Retry-After`, from a field of the error or of an exception behind it, or from the headers that one
            of them keeps; None if there is none.
        cause: A text that errors with the same cause share. For an exception, it has the class and the place of the
            code that raised; for an event and for an expected error, the class and the message without its values.
        traceback: The traceback of an exception, shortened; None for an event and for an expected error.
    """

    type: str
    contract_type: str | None
    text: str
    provider: str | None = None
    has_origin: bool = False
    dump: str = ""
    headers: str = ""
    retry_after: str | None = None
    cause: str = ""
    traceback: str | None = None

    def __str__(self) -> str:
        """Return class and message, shortened."""
        text = self.text if len(self.text) <= 300 else f"{self.text[:300]} ..."
        return f"{self.type}: {text}"


@dataclass(frozen=True)
class Outcome:
    """What one call of an adapter's method returned or raised, and what was observed.

    Attributes:
        response: The response that was returned, or that is in the last `response.completed`; None if there was none.
        events: The stream's events in order; empty for a plain response.
        invalid_events: Items of the stream that are no events, as (position, description).
        returned: The response as the adapter's own object, for the messages of the next call; None if there was none.
        request: The body of the request that was answered; None if there was none.
        attempts: How many requests were made, as far as the transport can count them.
        repeats: How many of the requests repeat an answered request.
        raised: The error that was raised, or that a `response.error` event carries.
        unsupported: The reason why nothing can be judged, although nothing failed: for example, the adapter requested a
            mode that was not recorded.
        blocked: Why nothing can be judged, if the call for an earlier answer failed. The scenario of that answer
            reports this failure.
        difference: Where the adapter's request differs from the call, if the suite sent no answer for this reason.
        fault: The failure because of which there is no answer: for example, the adapter raised, hung, or returned
            something that is no response.
        cause: A text that faults with the same cause share; None without a fault.
        traceback: The traceback of the fault, shortened; None if the fault is no exception.
        hung: Whether the call did not return within its time limit.
        buffered: True if the adapter showed no content before the last frame was sent. None if nobody observed this, or
            if the earlier frames have no content that the adapter shows.
        connections: Refused connections, each with the place in the code that tried to open it.
        mutations: Names of the fields of the call that the adapter changed.
        logs: Sentences that say what wrote the API key into a log or to the terminal.
    """

    response: Returned | None = None
    events: tuple[Mapping[str, Any], ...] = ()
    invalid_events: tuple[tuple[int, str], ...] = ()
    returned: Any = None
    request: Mapping[str, Any] | None = None
    attempts: int = 0
    repeats: int = 0
    raised: Raised | None = None
    unsupported: str | None = None
    blocked: str | None = None
    difference: Difference | None = None
    fault: str | None = None
    cause: str | None = None
    traceback: str | None = None
    hung: bool = False
    buffered: bool | None = None
    connections: tuple[str, ...] = ()
    mutations: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


class Returned:
    """The fields of a returned response. Reading a field that the schema rejects raises Blocked.

    Args:
        data: The response as a mapping.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.problems = shapes.problems("response", data)
        self._invalid = {where[0]: message for where, message in self.problems if where}

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or `default` if it is absent. Raises Blocked if the schema rejects it."""
        if name in self._invalid:
            raise Blocked(f"`{name}` is not valid; SHP-1 reports that")
        return self.data.get(name, default)

    @property
    def message(self) -> str:
        """The visible answer; "" if the field is missing (SHP-1 reports that)."""
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
        """The token counts; None if there are none."""
        value = self.get("usage")
        return None if value is None else _known(Usage, value)


def _known(kind: type[T], item: Mapping[str, Any]) -> T:
    names = _names(kind)  # type: ignore[arg-type]
    return kind(**{key: value for key, value in item.items() if key in names})


@functools.cache
def _names(kind: type) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(kind))
