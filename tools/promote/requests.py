"""The parts of earlier answers in a request, as claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tools.promote import fields, order

_CONVERSATION = ("messages", "input", "contents", "chat_history")
"""The request fields with the conversation, in all wire formats."""
_CALLERS = ("user", "system", "developer")
"""The roles of messages that the caller has written."""
_TEXTS = frozenset({"text", "input_text", "output_text"})
_PREFIX = "request: "


def fields_of(request: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of a conversation, without messages of the caller and messages of the role `tool`."""
    for name, items in _conversation(request):
        kept = [item for item in items if not (isinstance(item, Mapping) and item.get("role") in (*_CALLERS, "tool"))]
        yield from (f"{_PREFIX}{each.text}" for each in fields.fields({name: kept}))


def orders_of(request: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the order of the items of a conversation, and of the parts of messages that have more than text."""
    for name, items in _conversation(request):
        yield f"{_PREFIX}{name}", tuple(filter(None, map(_label, items)))
        for path, labels in order.lists({name: items}):
            if path != name and order.is_content(path) and not _TEXTS.issuperset(labels):
                yield f"{_PREFIX}{path}", tuple(labels)


def path_of(pointer: str) -> str:
    """Return a JSON pointer as the path of a field: `/messages/1/content` as `messages/*/content`."""
    return re.sub(r"(?<=/)\d+(?=/|$)", "*", pointer).lstrip("/")


def plain(claim: str) -> str:
    """Return the path of a claim about a request, without the types of objects; "" for any other claim."""
    path = claim.removeprefix(_PREFIX).rpartition(": ")[0]
    return re.sub(r"\[[^\]]*\]", "", path) if claim.startswith(_PREFIX) else ""


def _conversation(request: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    yield from ((name, request[name]) for name in _CONVERSATION if isinstance(request.get(name), list))


def _label(item: Any) -> str:
    """Return the label of an item of a conversation; "" for a message of the caller.

    The label is the type of the item. A message has its role instead, with the fields that it has besides its
    content.
    """
    if not isinstance(item, Mapping):
        return fields.state(item)
    tag = fields.tag_of(item)
    if tag and tag != "message":
        return tag
    role = str(item.get("role", ""))
    if role in (*_CALLERS, "tool"):
        return role if role == "tool" else ""
    return " ".join([role, *sorted(key for key in item if key not in _OF_MESSAGES)])


_OF_MESSAGES = ("role", "content", "parts", "type", "id", "status", "phase", "refusal", "annotations", "name")
