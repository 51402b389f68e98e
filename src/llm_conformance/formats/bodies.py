"""Helpers to write a conversation as the body of a request. They take messages and tools in OpenAI's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Fields = dict[str, Any]
Messages = Sequence[Mapping[str, Any]]


def function_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the `function` object of a tool."""
    function: Mapping[str, Any] = tool["function"]
    return function


def description_of(function: Mapping[str, Any]) -> Fields:
    """Return the `description` field of a function; {} if it has no description."""
    return filled(description=function.get("description"))


def instructions_of(messages: Messages) -> str:
    """Return the system messages, joined by an empty line."""
    return "\n\n".join(message["content"] for message in messages if message["role"] == "system")


def filled(**fields: Any) -> Fields:
    """Return the given fields without those that are empty."""
    return {name: value for name, value in fields.items() if value}
