"""An SDK of a few types, in the forms that SDKs have: `test_sdk_types.py` compares documents with them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from os import PathLike
from types import NoneType
from typing import IO, Annotated, Any, ClassVar, Literal, NotRequired, TypedDict


class Finish(enum.Enum):
    STOP = "stop"
    LENGTH = "length"


class Text(TypedDict):
    type: Literal["text"]
    text: str
    cited: NotRequired[list[str]]


class Thinking(TypedDict):
    type: Literal["thinking"]
    thinking: str


class UnknownBlock(TypedDict):
    raw: Any


Block = Annotated[Text | Thinking | UnknownBlock, "discriminated by type"]


@dataclass
class Usage:
    total: int
    cost: float | None = None


@dataclass
class Answer:
    id: str
    finish: Finish
    blocks: list[Block]
    usage: Usage | None = None
    tier: Literal["on_demand"] | Any = "on_demand"
    model: str | Literal["m-1"] = "m-1"
    extra: dict[str, int] | None = None
    file: str | IO[bytes] | PathLike[str] | None = None


@dataclass
class Function:
    name: str


@dataclass
class Message:
    role: Literal["assistant"]
    content: str | None = None
    reasoning_content: str | None = None


@dataclass
class Choice:
    index: int
    message: Message
    finish_reason: Literal["stop"]


@dataclass
class Chat:
    """The type of the miniature's plain answer, with one field too few and one too many."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    service_tier: str


class ModelField:
    """A field as pydantic's models have it."""

    def __init__(self, annotation: Any, *, required: bool = True, alias: str | None = None) -> None:
        self.annotation = annotation
        self.alias = self.validation_alias = alias
        self._required = required

    def is_required(self) -> bool:
        return self._required


class Aliased:
    """A model whose fields have other names in JSON."""

    model_fields: ClassVar[dict[str, ModelField]] = {
        "finish_reason": ModelField(str, alias="finishReason"),
        "none": ModelField(NoneType, required=False),
    }


class NotUnderstood:
    """Neither a scalar nor a model."""
