"""Add the name of the tool to each tool message of a conversation.

Many libraries demand the name. Scenario files leave it out, because the answered call already has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_Call = tuple[str | None, str]
"""(id, name) of a tool call."""


def with_tool_names(messages: Sequence[Any], answers: Mapping[int, Sequence[_Call]]) -> Iterator[Any]:
    """Yield the messages; tool messages get the `name` of their tool.

    Args:
        messages: The conversation. A message that is not a mapping is yielded unchanged.
        answers: Maps the index of an earlier answer in `messages` to its tool calls.
    """
    calls: list[_Call] = []
    for position, message in enumerate(messages):
        if position in answers:
            calls = list(answers[position])
        elif isinstance(message, Mapping) and message.get("role") == "assistant":
            calls = list(_stated_calls(message.get("tool_calls")))
        elif isinstance(message, Mapping) and message.get("role") == "tool" and "name" not in message:
            name = _take_name(calls, message.get("tool_call_id"))
            message = {**message, "name": name} if name else message
        yield message


def _stated_calls(tool_calls: Any) -> Iterator[_Call]:
    for call in tool_calls if isinstance(tool_calls, list) else ():
        function = call.get(str(call.get("type")), call.get("function")) if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            yield call.get("id"), function["name"]


def _take_name(calls: list[_Call], id: str | None) -> str | None:
    """Return the name of the call with this id.

    If there is none, remove the first call without an id, and return its name.
    """
    by_id = [name for own, name in calls if own == id and own is not None]
    if by_id:
        return by_id[0]
    without_id = [call for call in calls if call[0] is None]
    if not without_id:
        return None
    calls.remove(without_id[0])
    return without_id[0][1]
