"""Read the library's own objects, and keep them beside the canonical response."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any


class Answer(dict[str, Any]):
    """A canonical response that keeps what the library returned.

    Attributes:
        native: The library's own object, or the list of its events. If a rule fails, the suite looks for the expected
            value in this object. If the value is there, the adapter may have missed it.
        turn: What a later turn of the conversation gives back to the library.
    """

    native: Any = None
    turn: Any = None


def fields(value: Any) -> dict[str, Any]:
    """Return the fields of a library's object: a mapping, a dataclass, or an object with `to_dict` or `model_dump`.

    Raises TypeError for anything else.
    """
    if isinstance(value, Mapping):
        return dict(value)
    for name in ("to_dict", "model_dump"):
        if callable(dump := getattr(value, name, None)):
            return dict(dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"{type(value).__qualname__} has no fields that can be read")


def turns(call: Any) -> list[Any]:
    """Return the messages of a call. The library's own messages (`Answer.turn`) replace earlier answers."""
    return [said.turn if isinstance(said, Answer) else said for said in call.messages]


def keywords(method: Callable[..., Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as keywords of a method. Parameters that the method does not name go into its `extra_body`.

    The SDKs made by Stainless (openai, anthropic, groq and others) document this:
    <https://github.com/openai/openai-python#undocumented-request-params>.
    """
    known = inspect.signature(method).parameters
    extra = {name: value for name, value in params.items() if name not in known}
    named = {name: value for name, value in params.items() if name in known}
    return {**named, "extra_body": extra} if extra else named
