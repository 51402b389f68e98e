"""The JSON report (`schemas/report.schema.json`). All other forms of a report are made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]


class Streamed:
    """A list in a report that is not kept in memory: each reading makes the items again, one by one."""

    def __init__(self, make: Callable[[], Iterator[Document]], length: int) -> None:
        self._make = make
        self._length = length

    def __iter__(self) -> Iterator[Document]:
        """Make the items one by one."""
        return self._make()

    def __len__(self) -> int:
        """Return the number of items."""
        return self._length
