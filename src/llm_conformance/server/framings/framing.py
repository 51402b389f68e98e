"""The types of an event of a stream and of a framing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    r"""An event.

    Attributes:
        data: Its data, without what the framing adds. Several lines are joined by "\n".
        name: Its name; "" if it has none.
        is_ended: Whether the end of the event was sent.
    """

    data: str
    name: str
    is_ended: bool


@dataclass(frozen=True)
class Framing:
    """A framing.

    Attributes:
        content_type: The content type of a stream.
        events: A function that yields the events of a body. Raises UnicodeDecodeError.
        end_mark: The data of an event that ends a stream and is not a document; "" if there is no such event.
    """

    content_type: str
    events: Callable[[bytes], Iterator[Event]]
    end_mark: str = ""
