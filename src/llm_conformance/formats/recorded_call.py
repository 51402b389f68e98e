"""The call that a recorded request makes, in the form of `contract.call`.

Each wire format has a `calls.py` that reads its requests. For a part of a request that has no place in a call, it
raises CannotAskError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Fields = dict[str, Any]

_LONGEST_WORD = 40
_NOTHING: tuple[Any, ...] = (None, False, "", [], {})


class CannotAskError(Exception):
    """Part of a request has no place in a call. The message names the part, but not its content."""


@dataclass(frozen=True)
class EarlierAnswer:
    """An earlier answer that is more than a plain message. The adapter has to return it before the call is made.

    Attributes:
        at: The number of items before the answer in the history of the request.
        items: The recorded messages, blocks or items of the answer.
        message: The answer in OpenAI's form, as far as possible. `parse` and `parse_stream` get this form.
    """

    at: int
    items: Sequence[Any]
    message: Mapping[str, Any]


@dataclass(frozen=True)
class RecordedCall:
    """A conversation, its tools in OpenAI's form, and all other fields of the request under the provider's names."""

    messages: Sequence[Mapping[str, Any] | EarlierAnswer]
    tools: Sequence[Mapping[str, Any]]
    params: Mapping[str, Any]


@dataclass
class OpenCalls:
    """The tool calls that have no result yet, for formats in which a result may name only its tool."""

    _ids: dict[str, list[str | None]] = field(default_factory=dict)

    def add(self, name: Any, id: Any) -> None:
        """Note a call."""
        self._ids.setdefault(str(name), []).append(id)

    def take(self, name: Any) -> str | None:
        """Return the id of a tool's first call without a result; None if there is none or it has no id."""
        waiting = self._ids.get(str(name))
        return waiting.pop(0) if waiting else None


def expect_only(what: str, value: Mapping[str, Any], *fields: str) -> None:
    """Raise CannotAskError if any field other than `fields` is not empty; `what` names the object."""
    more = next((name for name, each in value.items() if name not in fields and each not in _NOTHING), None)
    if more is not None:
        raise CannotAskError(f"{what} has the field {named(more)}")


def named(word: Any) -> str:
    """Return a word of a request in the form for messages.

    The word is untrusted: it may be long, or not even a text.
    """
    return repr(str(word)[:_LONGEST_WORD])


def has_only(value: Mapping[str, Any], *fields: str) -> bool:
    """Return True if all fields of an object except `fields` are empty."""
    return all(name in fields or each in _NOTHING for name, each in value.items())


def history(request: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    """Return the conversation of a request, a list of objects. Raises CannotAskError if the request has none."""
    items = request.get(name)
    if not items or not isinstance(items, list) or not all(isinstance(each, Mapping) for each in items):
        raise CannotAskError(f"the request has no {name!r}")
    return items


def content_of(content: Any, kind: str | None = None) -> Any:
    """Return a text unchanged, the text of a list with one text part, or any other list of parts as recorded.

    `kind` is the `type` of a text part; None if text parts have no type. Raises CannotAskError if there is no content.
    """
    if isinstance(content, str):
        return content
    if not content or not isinstance(content, list) or not all(isinstance(each, Mapping) for each in content):
        raise CannotAskError("a message is without content")
    text = only_text(content, kind)
    return content if text is None else text


def only_text(parts: Sequence[Mapping[str, Any]], kind: str | None = None) -> str | None:
    """Return the text of a list with one part that has only a text; None for any other list.

    Annotations and log probabilities of the part do not count.
    """
    part = parts[0] if len(parts) == 1 else {}
    is_text = isinstance(part.get("text"), str) and has_only(part, "type", "text", "annotations", "logprobs")
    return part["text"] if is_text and part.get("type") == kind else None


def split_tools(
    tools: Any, as_function: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
) -> tuple[list[Mapping[str, Any]], list[Any]]:
    """Return (the tools that are functions, in OpenAI's form; all other tools as recorded).

    `as_function` returns the function that a tool declares; None if the tool is not only a function.
    """
    functions: list[Mapping[str, Any]] = []
    others: list[Any] = []
    for tool in tools if isinstance(tools, list) else []:
        function = as_function(tool) if isinstance(tool, Mapping) else None
        if function is None:
            others.append(tool)
        else:
            functions.append({"type": "function", "function": function})
    return functions, others


def without(request: Mapping[str, Any], names: Iterable[str], **put_back: Any) -> Fields:
    """Return a request without `names`, `model` and `stream`. The fields of `put_back` that are not empty are added."""
    taken = {*names, "model", "stream"}
    rest = {name: value for name, value in request.items() if name not in taken}
    return rest | {name: value for name, value in put_back.items() if value}


def function(name: Any, description: Any, parameters: Any, **more: Any) -> Fields:
    """Return a function in OpenAI's form. Fields that are None are left out."""
    said = {"description": description, "parameters": parameters, **more}
    return {"name": name, **{field: value for field, value in said.items() if value is not None}}
