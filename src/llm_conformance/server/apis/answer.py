"""The content of an answer, in types that all formats share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class ToolCall:
    """A tool call. `pieces` are its parts in a stream, unchanged."""

    id: str = ""
    type: str = ""
    name: str = ""
    arguments: str = ""
    pieces: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass
class Answer:
    """An answer.

    Attributes:
        texts: The text; in a stream, its pieces.
        reasonings: The reasoning; in a stream, its pieces.
        calls: The tool calls in order. The keys are those that tell calls apart in a stream.
        finish: The finish words that are not null.
        is_cut: Whether the token limit has cut the answer off.
        is_refusal: Whether the model refuses in the format's field for refusals.
    """

    texts: list[str] = field(default_factory=list)
    reasonings: list[str] = field(default_factory=list)
    calls: dict[Any, ToolCall] = field(default_factory=dict)
    finish: list[str] = field(default_factory=list)
    is_cut: bool = False
    is_refusal: bool = False

    def end(self, word: Any, cut: str) -> None:
        """Note the finish word, if it is a text. `cut` is the word for an answer that the token limit has cut off."""
        if isinstance(word, str):
            self.finish.append(word)
            self.is_cut = word == cut

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        """The whole reasoning."""
        return "".join(self.reasonings)


@dataclass(frozen=True)
class Counts:
    """The token counts of an answer. A count that the answer does not state is None."""

    input: int | None = None
    output: int | None = None


def count(usage: Mapping[str, Any] | None, name: str) -> int | None:
    """Return a token count; None if there is none."""
    value = None if usage is None else usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list; nothing if the value is not a list."""
    yield from (each for each in (value if isinstance(value, list) else ()) if isinstance(each, Mapping))


def inner(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object in a field; an empty object if there is none."""
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def text_of(value: Any) -> str:
    """Return a text; "" for anything else."""
    return value if isinstance(value, str) else ""
